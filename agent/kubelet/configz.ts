import type { HttpAnswer } from '#shared/http/body.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { type Lifetime, within } from '#shared/runtime/lifetime.ts';
import { boundedGet } from './bounded-get.ts';
import type { RunningConfig } from '../ports/probe.ts';
import { type Address, dialKubelet, type Dialled } from './serving-certificate.ts';

export interface ConfigzOptions {
  /** The agent's service account token, as it is now; empty for none. */
  readonly token: () => Promise<string>;
  /** PEM files on this machine that may hold the certificate that the kubelet serves with. */
  readonly servingCertFiles: readonly string[];
  /** The text of such a file; undefined where it cannot be read. The machine's own files where it is left out. */
  readonly readCert?: (path: string) => Promise<string | undefined>;
  /** Hears of the certificate that the kubelet itself showed, as DER. */
  readonly onServed?: (certificate: Buffer) => void;
}

type Unseen = Extract<RunningConfig, { readonly seen: false }>;

const MOST_BYTES = 1024 * 1024;

/** Reads `/configz`. The token is shown to nobody but the kubelet. */
export async function readConfigz(
  address: Address,
  { token, servingCertFiles, readCert, onServed }: ConfigzOptions,
  life: Lifetime,
): Promise<RunningConfig> {
  let dialled: Dialled;
  try {
    dialled = await dialKubelet(address, servingCertFiles, life.signal, readCert);
  } catch (error) {
    return unseen('down', reasonOf(error));
  }
  const { socket, isKubelet, shown: certificate } = dialled;
  try {
    if (!isKubelet) {
      const where = servingCertFiles.join(' or ');
      const advice = 'if it is the kubelet, set KUBELET_SERVING_CERTS to the file of its serving certificate';
      return unseen('untrusted', `port ${address.port} shows another certificate than ${where}; ${advice}`);
    }
    if (certificate !== undefined) onServed?.(certificate);
    const shown = await within(life.signal, token());
    const headers = { accept: 'application/json', ...(shown === '' ? {} : { authorization: `Bearer ${shown}` }) };
    return answerOf(await boundedGet(address, '/configz', { headers, socket, maxBytes: MOST_BYTES }, life));
  } catch (error) {
    return unseen('error', reasonOf(error));
  } finally {
    socket.destroy();
  }
}

function answerOf({ status, body }: HttpAnswer): RunningConfig {
  if (status === 401) {
    const message = 'the kubelet does not know the agent’s token: authentication.webhook.enabled has to be true';
    return unseen('forbidden', message);
  }
  if (status === 403) {
    const message = 'the agent may not read /configz: it needs "get" on nodes/configz, or on nodes/proxy before 1.33';
    return unseen('forbidden', message);
  }
  if (status !== 200) return unseen('error', `/configz answers ${status}`);
  const config = (JSON.parse(body.toString('utf8')) as { readonly kubeletconfig?: unknown } | null)?.kubeletconfig;
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return unseen('error', '/configz holds no "kubeletconfig"');
  }
  return { seen: true, config: config as Readonly<Record<string, unknown>> };
}

const unseen = (why: Unseen['why'], reason: string): RunningConfig => ({ seen: false, why, reason });
