import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type Lifetime, withLifetime } from '#shared/runtime/lifetime.ts';
import { boundedGet } from './bounded-get.ts';
import { type ConfigzOptions, readConfigz } from './configz.ts';
import type { Health, KubeletProbe } from '../ports/probe.ts';
import type { Address } from './serving-certificate.ts';

export interface HostProbeOptions extends ConfigzOptions {
  readonly clock?: Clock;
  /** Every look ends within this time, whatever the kubelet does. Default 2 s. */
  readonly timeoutMs?: Millis;
}

/** It says which check failed, in a line for each. */
const MOST_HEALTHZ_BYTES = 16 * 1024;

/** Looks at the kubelet of this machine over its own ports. */
export function createHostProbe(options: HostProbeOptions): KubeletProbe {
  const { clock = systemClock, timeoutMs = 2000 } = options;
  const onParent = (): GitopsError => new GitopsError('PROBE_ABORTED', 'given up');
  const reason = (): GitopsError => new GitopsError('PROBE_TIMEOUT', `no answer within ${timeoutMs} ms`);
  const inTime = <T>(parent: AbortSignal, look: (life: Lifetime) => Promise<T>): Promise<T> =>
    withLifetime({ clock, parent, onParent, ms: timeoutMs, reason }, look);
  return {
    async health({ healthz }, signal) {
      if (healthz === null) return { health: 'down', reason: 'its health endpoint is switched off (healthzPort: 0)' };
      return inTime(signal, (life) => askHealthz(healthz, life));
    },
    async runningConfig({ api, servingCerts = [] }, signal) {
      if (api === null) return { seen: false, why: 'off', reason: 'its API is switched off (enableServer: false)' };
      const files = [...new Set([...servingCerts, ...options.servingCertFiles])];
      return inTime(signal, (life) => readConfigz(api, { ...options, servingCertFiles: files }, life));
    },
  };
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
