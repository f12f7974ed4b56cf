import { request } from 'node:http';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Health, KubeletProbe } from './probe.ts';
import { readConfigz, type ConfigzOptions } from './configz.ts';

/** Every look ends within this time, whatever the kubelet does. */
const TIMEOUT_MS = 2_000;
const MOST_BYTES = 4_096;

/** Looks at the kubelet of this machine over its own ports. */
export function createHostProbe(options: ConfigzOptions): KubeletProbe {
  return {
    async health({ healthz }, signal) {
      if (healthz === null) return { health: 'down', reason: 'its health endpoint is switched off (healthzPort: 0)' };
      const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      try {
        return await askHealthz(healthz, within);
      } catch (error) {
        return { health: 'down', reason: within.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : reasonOf(error) };
      }
    },
    async runningConfig({ api }, signal) {
      if (api === null) return { seen: false, why: 'down', reason: 'its API is switched off (enableServer: false)' };
      return readConfigz(api, options, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    },
  };
}

function askHealthz(
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Health> {
  return new Promise((resolve, reject) => {
    const asking = request({ host, port, path: '/healthz', agent: false, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text = (text + chunk).slice(0, MOST_BYTES);
      });
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode === 200) return resolve({ health: 'ok' });
        const failing = /^\[-\].*$/m.exec(text)?.[0] ?? text.trim().split('\n')[0] ?? '';
        resolve({ health: 'failing', reason: `healthz answers ${response.statusCode}: ${failing.slice(0, 200)}` });
      });
    });
    asking.once('error', reject);
    asking.end();
  });
}
