import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type Lifetime, withLifetime } from '#shared/runtime/lifetime.ts';
import { boundedGet } from './bounded-get.ts';
import { getFromKubelet, type KubeletAccess } from './authenticated-get.ts';
import { readConfigz } from './configz.ts';
import { countersIn } from './kubelet-counters.ts';
import { podEvictionsIn } from './pod-evictions.ts';
import type { Health, KubeletAddress, KubeletProbe } from '../ports/kubelet-probe.ts';
import type { Address } from './pinned-certificate.ts';

interface HostProbeOptions extends KubeletAccess {
  readonly clock?: Clock;
  /** Every look ends within this time, whatever the kubelet does. Default 2 s. */
  readonly timeoutMs?: Millis;
}

/** A kubelet with hundreds of pods has less than half of that. */
const MOST_METRICS_BYTES = 4 * 1024 * 1024;

/** Each refusal costs the API server a question, and a right that is missing seldom comes within a trial. */
const FORBIDDEN_MS: Millis = 10 * 60_000;

/** It says which check failed, in a line for each. */
const MOST_HEALTHZ_BYTES = 16 * 1024;

/** Looks at the kubelet of this machine over its own ports. */
export function createHostProbe(options: HostProbeOptions): KubeletProbe {
  const { clock = systemClock, timeoutMs = 2000 } = options;
  let forbiddenUntil: Millis = Number.NEGATIVE_INFINITY;
  const onParent = (): GitopsError => new GitopsError('PROBE_ABORTED', 'given up');
  const reason = (): GitopsError => new GitopsError('PROBE_TIMEOUT', `no answer within ${timeoutMs} ms`);
  const inTime = <T>(parent: AbortSignal, look: (life: Lifetime) => Promise<T>): Promise<T> =>
    withLifetime({ clock, parent, onParent, ms: timeoutMs, reason }, look);
  const trusting = (certs: NonNullable<KubeletAddress['servingCerts']>): KubeletAccess => ({
    ...options,
    servingCertFiles: [...new Set([...certs, ...options.servingCertFiles])],
  });
  return {
    async health({ healthz }, signal) {
      if (healthz === null) return { health: 'down', reason: 'its health endpoint is switched off (healthzPort: 0)' };
      return inTime(signal, (life) => askHealthz(healthz, life));
    },
    async runningConfig({ api, servingCerts = [] }, signal) {
      if (api === null) return { seen: false, why: 'off', reason: 'its API is switched off (enableServer: false)' };
      return inTime(signal, (life) => readConfigz(api, trusting(servingCerts), life));
    },
    async podHarm(address, signal) {
      const text = await metricsOf(address, signal);
      return text === null ? null : podEvictionsIn(text);
    },
    async counters(address, signal) {
      const text = await metricsOf(address, signal);
      return text === null ? null : countersIn(text);
    },
  };

  /** null if unreadable. */
  async function metricsOf({ api, servingCerts = [] }: KubeletAddress, signal: AbortSignal): Promise<string | null> {
    if (api === null || clock.monotonic() < forbiddenUntil) return null;
    const answer = await inTime(signal, (life) =>
      getFromKubelet(api, '/metrics', MOST_METRICS_BYTES, trusting(servingCerts), life),
    );
    if ('seen' in answer) return null;
    if (answer.status === 401 || answer.status === 403) forbiddenUntil = clock.monotonic() + FORBIDDEN_MS;
    return answer.status === 200 ? answer.body.toString('utf8') : null;
  }
}

async function askHealthz(at: Address, life: Lifetime): Promise<Health> {
  try {
    const { status, body } = await boundedGet(at, '/healthz', { maxBytes: MOST_HEALTHZ_BYTES }, life);
    if (status === 200) return { health: 'ok' };
    const text = body.toString('utf8');
    const failed = /^\[-\].*$/m.exec(text)?.[0] ?? text.trim().split('\n')[0] ?? '';
    return { health: 'failing', reason: `healthz answers ${status}: ${failed.slice(0, 200)}` };
  } catch (error) {
    return { health: 'down', reason: reasonOf(error) };
  }
}
