import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { GitError } from '../errors.ts';

/** Where a repository is, on a server that is reached over SSH. */
export interface SshAddress {
  readonly user: string;
  readonly host: string;
  /** null for what ssh takes by itself. */
  readonly port: number | null;
  /** As the server is asked for it. */
  readonly path: string;
  /** For logs and status. */
  readonly shown: string;
}

const SCP_LIKE = /^(?:([^/@:]+)@)?([^/@:]+):(?!\/\/)(.+)$/;
/** What forges call the account that everybody shares. */
const USER = 'git';

/**
 * `ssh://git@host:22/path.git` or `git@host:path.git`; null for an address of another kind.
 *
 * @throws GitError `GIT_URL_UNUSABLE` for what ssh or a shell could take for something else than an address
 */
export function sshAddress(text: string): SshAddress | null {
  const parts = /^(?:git\+)?ssh:\/\//.test(text) ? fromUrl(text) : fromScp(text);
  if (parts === null) return null;
  const { user, host, port, path } = parts;
  // ssh takes what begins with a dash for an option.
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(user)) throw unusable(text, 'the user');
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$|^[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$/.test(host)) throw unusable(text, 'the host');
  if (path === '' || path === '/' || path.startsWith('-') || /\p{Cc}/u.test(path)) throw unusable(text, 'the path');
  const inside = host.includes(':') ? `[${host}]` : host;
  const shownPath = path.startsWith('/') ? path : `/${path}`;
  return { user, host, port, path, shown: `ssh://${user}@${inside}${port === null ? '' : `:${port}`}${shownPath}` };
}

type Parts = Omit<SshAddress, 'shown'>;

function fromUrl(text: string): Parts {
  const url = URL.parse(text);
  if (url === null) throw unusable(text, 'something in it');
  if (url.search !== '' || url.hash !== '') throw unusable('', 'what stands behind its path (? or #)');
  if (url.password !== '') throw unusable('', 'a password in it, which would show up in logs and status: that');
  let path: string;
  try {
    path = decodeURIComponent(url.pathname).replace(/\/+$/, '');
  } catch {
    throw unusable(text, 'the path');
  }
  return {
    user: url.username === '' ? USER : url.username,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? null : Number(url.port),
    // `/~ada/x` is Ada's, as git has it.
    path: path.startsWith('/~') ? path.slice(1) : path,
  };
}

function fromScp(text: string): Parts | null {
  const match = SCP_LIKE.exec(text);
  if (match === null) return null;
  const [, user = USER, host = '', path = ''] = match;
  return { user, host, port: null, path: path.replace(/\/+$/, '') };
}

function unusable(text: string, what: string): GitError {
  const shown = text === '' ? '' : ` ("${sanitizeText(text)}")`;
  return new GitError(
    'GIT_URL_UNUSABLE',
    `the address of the repository${shown} cannot be used over ssh: ${what} is not usable. Write ssh://git@<host>/<path> or git@<host>:<path>`,
  );
}
