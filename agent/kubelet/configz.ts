import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { RunningConfig } from './probe.ts';

export interface ConfigzOptions {
  /** The agent's service account token, as it is now. */
  readonly token: () => Promise<string>;
  /** PEM files on this machine that may hold the certificate that the kubelet serves with. */
  readonly servingCertFiles: readonly string[];
}

/** Where kubelets keep their serving certificate: signed by the cluster, or made by themselves. */
export const USUAL_SERVING_CERTS = [
  '/var/lib/kubelet/pki/kubelet-server-current.pem',
  '/var/lib/kubelet/pki/kubelet.crt',
] as const;

const MOST_BYTES = 4 * 1024 * 1024;
const unseen = (why: Exclude<RunningConfig, { seen: true }>['why'], reason: string): RunningConfig => ({
  seen: false,
  why,
  reason,
});

/**
 * Reads `/configz`. The token is shown only to the holder of a certificate that lies on this machine's disk as the
 * kubelet's: while the kubelet is down, anybody on the host may listen on its port.
 */
export async function readConfigz(
  address: { readonly host: string; readonly port: number },
  { token, servingCertFiles }: ConfigzOptions,
  signal: AbortSignal,
): Promise<RunningConfig> {
  let socket: TLSSocket;
  try {
    socket = await dial(address, signal);
  } catch (error) {
    return unseen('down', signal.aborted ? 'no TLS connection in time' : reasonOf(error));
  }
  try {
    const known = await knownCertificates(servingCertFiles);
    const shown: Buffer | undefined = socket.getPeerCertificate().raw;
    if (shown === undefined || !known.some((certificate) => certificate.equals(shown))) {
      const where = servingCertFiles.join(', ');
      return unseen(
        'untrusted',
        `port ${address.port} shows a certificate that is not in ${where}: it was not given the token`,
      );
    }
    return await ask(socket, await token(), signal);
  } catch (error) {
    return unseen('error', signal.aborted ? 'no answer in time' : reasonOf(error));
  } finally {
    socket.destroy();
  }
}

/** Whoever answers is compared with the disk afterwards, so the usual check of names and authorities has nothing to add. */
function dial(
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
    const abort = (): void => void socket.destroy(new Error('aborted'));
    socket.once('error', reject);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** Every certificate of the files that are there, as DER. The private keys in them are none of our business. */
async function knownCertificates(files: readonly string[]): Promise<readonly Buffer[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  const blocks = texts.flatMap(
    (text) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [],
  );
  return blocks.map((block) => new X509Certificate(block).raw);
}

function ask(socket: TLSSocket, token: string, signal: AbortSignal): Promise<RunningConfig> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json', host: 'localhost' };
    const asking = request(
      { path: '/configz', headers, agent: false, createConnection: () => socket, signal },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MOST_BYTES) response.destroy(new Error(`/configz is longer than ${MOST_BYTES} bytes`));
          else chunks.push(chunk);
        });
        response.once('error', reject);
        response.once('end', () => resolve(answerOf(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'))));
      },
    );
    asking.once('error', reject);
    asking.end();
  });
}

function answerOf(status: number, text: string): RunningConfig {
  if (status === 401 || status === 403) {
    return unseen(
      'forbidden',
      'the kubelet lets the agent not read /configz: it lacks "get" on nodes/configz (nodes/proxy before 1.33)',
    );
  }
  if (status !== 200) return unseen('error', `/configz answers ${status}`);
  const body = JSON.parse(text) as { readonly kubeletconfig?: unknown };
  const config = body.kubeletconfig;
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return unseen('error', '/configz holds no "kubeletconfig"');
  }
  return { seen: true, config: config as Readonly<Record<string, unknown>> };
}
