import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { certificatesIn } from '#shared/runtime/pem.ts';

/** Where kubelets keep their serving certificate: signed by the cluster, or made by themselves. */
const USUAL_DIRECTORY = '/var/lib/kubelet/pki';
export const DEFAULT_SERVING_CERTS = [
  `${USUAL_DIRECTORY}/kubelet-server-current.pem`,
  `${USUAL_DIRECTORY}/kubelet.crt`,
] as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Files that hold the certificate which a kubelet with this config and command line serves with, the likeliest first
 * (cmd/kubelet/app/server.go): one that the cluster signed and the kubelet renews, one that it was given, or its own.
 *
 * @param effective as the kubelet has it, flags included
 * @param certDir   its flag --cert-dir
 */
export function servingCertsOf(effective: Fields, certDir?: string): readonly string[] {
  const { tlsCertFile, serverTLSBootstrap } = effective;
  const directory = certDir !== undefined && isAbsolute(certDir) ? certDir : USUAL_DIRECTORY;
  const renewed = join(directory, 'kubelet-server-current.pem');
  const given = typeof tlsCertFile === 'string' && isAbsolute(tlsCertFile) ? [tlsCertFile] : [];
  const isRenewed = serverTLSBootstrap === true;
  return [...(isRenewed ? [renewed] : []), ...given, ...(isRenewed ? [] : [renewed]), join(directory, 'kubelet.crt')];
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A TLS connection, and whether it leads to the kubelet. */
export interface PinnedConnection {
  readonly socket: TLSSocket;
  /** The other end has proven that it holds the key of a certificate in one of the files. */
  readonly isKubelet: boolean;
  /** DER; undefined where the other end showed none. */
  readonly shown: Buffer | undefined;
}

/**
 * Connects to where the kubelet should be, and says nothing yet. While the kubelet is down anybody on the host may listen
 * on its port; only the kubelet itself can show the certificate that lies on the node's disk.
 *
 * @param files PEM; those that are missing or damaged are passed over
 */
export async function connectPinned(
  address: Address,
  files: readonly string[],
  signal: AbortSignal,
  readCert: (path: string) => Promise<string | undefined> = (path) => readFile(path, 'utf8'),
): Promise<PinnedConnection> {
  const socket = await dial(address, signal);
  try {
    const shown: Buffer | undefined = socket.getPeerCertificate().raw;
    const known = await Promise.all(files.map((file) => readLeaf(file, readCert)));
    return { socket, shown, isKubelet: shown !== undefined && known.some((leaf) => leaf?.equals(shown) === true) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The server's certificate is compared with the disk, so the usual check of names and authorities has nothing to add. */
function dial({ host, port }: Address, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false });
    const abort = (): void => void socket.destroy(signal.reason as Error);
    // Stays on: an error that comes later must not end the process.
    socket.on('error', reject);
    socket.once('close', () => signal.removeEventListener('abort', abort));
    socket.once('secureConnect', () => resolve(socket));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
}

/** The server's own certificate comes first in such files. Its issuer is not the kubelet. */
async function readLeaf(
  file: string,
  readCert: (path: string) => Promise<string | undefined>,
): Promise<Buffer | undefined> {
  try {
    const [leaf] = certificatesIn((await readCert(file)) ?? '');
    return leaf === undefined ? undefined : new X509Certificate(leaf).raw;
  } catch {
    return undefined;
  }
}
