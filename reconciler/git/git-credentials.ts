import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError } from './errors.ts';

/** What a request is signed with. Neither field may reach a log, a status or an error. */
export interface GitCredential {
  /** Value of the Authorization header. */
  readonly authorization: string;
  /** Texts that are taken out of whatever a server says. */
  readonly secrets: readonly string[];
}

export interface GitCredentials {
  /**
   * The credential as it is now, so that a rotated Secret is used at the next call; null for none at all.
   *
   * @throws GitError `GIT_CREDENTIALS_UNREADABLE`
   */
  read(): Promise<GitCredential | null>;
  /**
   * What the program shows of itself when it connects over TLS; null or absent for nothing.
   *
   * @throws GitError `GIT_CREDENTIALS_UNREADABLE`
   */
  certificate?(): Promise<ClientCertificate | null>;
}

/** A certificate for TLS with the key to it, both PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Forges that take a token as a password accept any user name; this is the one that GitHub documents. */
const TOKEN_USER = 'x-access-token';

/**
 * Credentials as a mounted Secret has them: the files `username` and `password`, or `token` (and `username`, where the
 * forge wants a certain one); and `tls.crt` and `tls.key`, beside them or alone, where the server wants a certificate.
 *
 * @param directory undefined for a repository that everyone may read
 */
export function fileCredentials(directory: string | undefined): GitCredentials {
  if (directory === undefined) return { read: () => Promise.resolve(null) };
  return {
    async read() {
      const [username, password, token] = await Promise.all(
        ['username', 'password', 'token'].map((name) => readSecret(directory, name)),
      );
      const secret = token ?? password;
      if (secret === undefined && username === undefined && (await certificateIn(directory)) !== null) return null;
      if (secret === undefined) throw unreadable(directory, 'holds neither a file "token" nor a file "password"');
      const user = username ?? (token === undefined ? undefined : TOKEN_USER);
      if (user === undefined) throw unreadable(directory, 'has a file "password", but no file "username" beside it');
      if (user.includes(':')) throw unreadable(directory, 'has a colon in the file "username"');
      return basic(user, secret);
    },
    certificate: () => certificateIn(directory),
  };
}

/** As `kubectl create secret tls` names them. Half a pair is a mistake. */
async function certificateIn(directory: string): Promise<ClientCertificate | null> {
  const [cert, key] = await Promise.all(['tls.crt', 'tls.key'].map((name) => readText(directory, name)));
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined)
    throw unreadable(directory, 'has one of "tls.crt" and "tls.key", not both');
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    throw unreadable(directory, 'has a "tls.crt" or "tls.key" that is not PEM, or a key with a passphrase');
  }
  throw unreadable(directory, 'has a "tls.key" that does not belong to its "tls.crt"');
}

function basic(user: string, secret: string): GitCredential {
  const encoded = Buffer.from(`${user}:${secret}`).toString('base64');
  return { authorization: `Basic ${encoded}`, secrets: [encoded, secret] };
}

async function readSecret(directory: string, name: string): Promise<string | undefined> {
  const text = await readText(directory, name);
  if (text !== undefined && /\p{Cc}/u.test(text)) {
    throw unreadable(directory, `has a line break or control character in "${name}"`);
  }
  return text;
}

async function readText(directory: string, name: string): Promise<string | undefined> {
  try {
    const text = (await readFile(join(directory, name), 'utf8')).trim();
    if (text === '') throw unreadable(directory, `has an empty file "${name}"`);
    return text;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (error instanceof GitError) throw error;
    throw unreadable(directory, `has an unreadable file "${name}" (${codeOf(error) ?? 'unknown reason'})`);
  }
}

function unreadable(directory: string, why: string): GitError {
  return new GitError('GIT_CREDENTIALS_UNREADABLE', `the directory of git credentials ${directory} ${why}`);
}

/** Takes the credential out of a text that a server or a proxy may have echoed it in. */
export function redactCredential(text: string, credential: GitCredential | null): string {
  return (credential?.secrets ?? []).reduce((left, secret) => left.replaceAll(secret, '***'), text);
}
