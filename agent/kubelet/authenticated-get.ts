import type { HttpAnswer } from '#shared/http/body.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { type Lifetime, within } from '#shared/runtime/lifetime.ts';
import type { RunningConfig } from '../ports/kubelet-probe.ts';
import { boundedGet } from './bounded-get.ts';
import { type Address, connectPinned, type PinnedConnection } from './pinned-certificate.ts';

export interface KubeletAccess {
  /** The agent's service account token, as it is now; empty for none. */
  readonly token: () => Promise<string>;
  /** PEM files on this machine that may hold the certificate that the kubelet serves with. */
  readonly servingCertFiles: readonly string[];
  /** The text of such a file; undefined for an unreadable one. Default: the machine's own files. */
  readonly readCert?: (path: string) => Promise<string | undefined>;
  /** Hears of the certificate that the kubelet itself showed, as DER. */
  readonly onServed?: (certificate: Buffer) => void;
}

type ConfigzUnread = Extract<RunningConfig, { readonly seen: false }>;

export const configzUnread = (why: ConfigzUnread['why'], reason: string): ConfigzUnread => ({
  seen: false,
  why,
  reason,
});

/** One GET of the kubelet's own API. Only the kubelet gets the token. Never rejects. */
export async function getFromKubelet(
  address: Address,
  path: string,
  maxBytes: number,
  { token, servingCertFiles, readCert, onServed }: KubeletAccess,
  life: Lifetime,
): Promise<HttpAnswer | ConfigzUnread> {
  let dialled: PinnedConnection;
  try {
    dialled = await connectPinned(address, servingCertFiles, life.signal, readCert);
  } catch (error) {
    return configzUnread('down', reasonOf(error));
  }
  const { socket, isKubelet, shown: certificate } = dialled;
  try {
    if (!isKubelet) {
      const where = servingCertFiles.join(' or ');
      const advice = 'if it is the kubelet, set KUBELET_SERVING_CERTS to the file of its serving certificate';
      return configzUnread('untrusted', `port ${address.port} shows another certificate than ${where}; ${advice}`);
    }
    if (certificate !== undefined) onServed?.(certificate);
    const shown = await within(life.signal, token());
    const headers = { accept: '*/*', ...(shown === '' ? {} : { authorization: `Bearer ${shown}` }) };
    return await boundedGet(address, path, { headers, socket, maxBytes }, life);
  } catch (error) {
    return configzUnread('error', reasonOf(error));
  } finally {
    socket.destroy();
  }
}
