import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Who a certificate names, as Kubernetes reads it: the common name is the user, the organizations are the groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** A certificate and its key, as PEM and as files. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface CertificateAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly certificateFile: string;
  /** For a client; its certificate is valid for two days. */
  readonly issue: (subject: Subject) => Promise<Identity>;
  /** For a server that is reached under these names and addresses. */
  readonly issueServing: (name: string, hosts: readonly string[]) => Promise<Identity>;
  /** For whom a request (PEM) names, with the names and addresses in it. @returns PEM */
  readonly sign: (request: string, usage: 'clientAuth' | 'serverAuth') => Promise<string>;
}

/** A certificate authority of its own in the directory, made with openssl (3.0 or newer). */
export async function createAuthority(directory: string): Promise<CertificateAuthority> {
  const config = join(directory, 'openssl.cnf');
  await writeFile(config, '[req]\ndistinguished_name = dn\n[dn]\n');
  const certificateFile = join(directory, 'ca.crt');
  const authorityKey = join(directory, 'ca.key');
  let issued = 0;

  const openssl = (files: { certificate: string; key: string }, subject: Subject, more: readonly string[]) =>
    run('openssl', [
      'req',
      '-x509',
      '-nodes',
      '-sha256',
      ...Object.entries({
        '-config': config,
        '-days': '2',
        '-newkey': 'ec',
        '-pkeyopt': 'ec_paramgen_curve:P-256',
        '-keyout': files.key,
        '-out': files.certificate,
        '-subj': distinguishedName(subject),
      }).flat(),
      ...more,
    ]);

  const issueFor = async (subject: Subject, extensions: readonly string[]): Promise<Identity> => {
    issued += 1;
    const base = join(directory, `${issued}-${subject.commonName.replaceAll(/[^\w.-]/g, '_')}`);
    const files = { certificate: `${base}.crt`, key: `${base}.key` };
    await openssl(files, subject, [
      '-CA',
      certificateFile,
      '-CAkey',
      authorityKey,
      ...extensions.flatMap(addExtension),
    ]);
    const [certificate, key] = await Promise.all([readFile(files.certificate, 'utf8'), readFile(files.key, 'utf8')]);
    return { certificate, key, certificateFile: files.certificate, keyFile: files.key };
  };

  const authority = { certificate: certificateFile, key: authorityKey };
  await openssl(authority, { commonName: 'cluster tests' }, AUTHORITY_EXTENSIONS.flatMap(addExtension));
  return {
    certificate: await readFile(certificateFile, 'utf8'),
    certificateFile,
    async sign(request, usage) {
      issued += 1;
      const [asked, extensions] = [join(directory, `${issued}.csr`), join(directory, `${issued}.extensions`)];
      await writeFile(asked, request);
      await writeFile(extensions, `extendedKeyUsage=${usage}\n`);
      const signing = ['x509', '-req', '-days', '2', '-copy_extensions', 'copy', '-in', asked, '-extfile', extensions];
      return (await run('openssl', [...signing, '-CA', certificateFile, '-CAkey', authorityKey])).stdout;
    },
    issue: (subject) => issueFor(subject, ['extendedKeyUsage=clientAuth']),
    issueServing: (name, hosts) =>
      issueFor({ commonName: name }, [
        'extendedKeyUsage=serverAuth',
        `subjectAltName=${hosts.map(alternative).join(',')}`,
      ]),
  };
}

const AUTHORITY_EXTENSIONS = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];

const addExtension = (extension: string): string[] => ['-addext', extension];

const alternative = (host: string): string => (/^[\d.]+$/.test(host) ? `IP:${host}` : `DNS:${host}`);

function distinguishedName({ commonName, organizations = [] }: Subject): string {
  const escape = (text: string): string => text.replaceAll(/[/\\+]/g, String.raw`\$&`);
  return [...organizations.map((name) => `/O=${escape(name)}`), `/CN=${escape(commonName)}`].join('');
}
