import type { HttpAnswer } from '#shared/http/body.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Lifetime } from '#shared/runtime/lifetime.ts';
import type { RunningConfig } from '../ports/kubelet-probe.ts';
import { getFromKubelet, type KubeletAccess, configzUnread } from './authenticated-get.ts';
import type { Address } from './pinned-certificate.ts';

const MOST_BYTES = 1024 * 1024;

/** Reads `/configz`. Only the kubelet gets the token. */
export async function readConfigz(address: Address, options: KubeletAccess, life: Lifetime): Promise<RunningConfig> {
  const answer = await getFromKubelet(address, '/configz', MOST_BYTES, options, life);
  try {
    return 'seen' in answer ? answer : answerOf(answer);
  } catch (error) {
    return configzUnread('error', reasonOf(error));
  }
}

function answerOf({ status, body }: HttpAnswer): RunningConfig {
  if (status === 401) {
    const message = 'the kubelet does not know the agent’s token: authentication.webhook.enabled has to be true';
    return configzUnread('forbidden', message);
  }
  if (status === 403) {
    const message = 'the agent may not read /configz: it needs "get" on nodes/configz, or on nodes/proxy before 1.33';
    return configzUnread('forbidden', message);
  }
  if (status !== 200) return configzUnread('error', `/configz answers ${status}`);
  const config = (JSON.parse(body.toString('utf8')) as { readonly kubeletconfig?: unknown } | null)?.kubeletconfig;
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return configzUnread('error', '/configz holds no "kubeletconfig"');
  }
  return { seen: true, config: config as Readonly<Record<string, unknown>> };
}
