import { request } from 'node:http';
import type { Health, KubeletAddress, KubeletProbe, RunningConfig } from '#agent/ports/kubelet-probe.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { ProcessState } from './process.ts';

/** What can be asked of a simulated kubelet. */
export interface ProbedKubelet {
  /** null while there is no process. */
  life(): ProcessState | null;
  readonly showsConfigz: boolean;
  /** The real port behind all that the config names; undefined for direct calls. */
  port(): number | undefined;
}

/**
 * Asks a simulated kubelet. It answers on the port in its config, and on no other: a request to another
 * port is refused, although many kubelets share this machine.
 */
export function createSimulatedProbe(kubelet: ProbedKubelet): KubeletProbe {
  return {
    async health({ healthz }, signal) {
      const config = configOf(kubelet.life());
      if (config === null || healthz === null || healthz.port !== config['healthzPort']) return refused(healthz);
      const port = kubelet.port();
      return port === undefined ? directHealth(kubelet.life()) : askHealthz(port, signal);
    },
    async runningConfig({ api }, signal) {
      const config = configOf(kubelet.life());
      if (config === null || api === null || api.port !== config['port']) {
        return { seen: false, why: 'down', reason: refused(api).reason };
      }
      if (!kubelet.showsConfigz) {
        return { seen: false, why: 'forbidden', reason: 'Forbidden (verb=get, resource=nodes, subresource=configz)' };
      }
      const port = kubelet.port();
      return port === undefined ? { seen: true, config } : askConfigz(port, signal);
    },
    // It counts nothing.
    podHarm: () => Promise.resolve(null),
    counters: () => Promise.resolve(null),
  };
}

type Config = Readonly<Record<string, unknown>>;

/** null while the kubelet does not listen. */
function configOf(life: ProcessState | null): Config | null {
  return life?.stage === 'healthy' || life?.stage === 'ready' ? life.config : null;
}

function refused(at: KubeletAddress['api']): Health & { readonly health: 'down' } {
  const reason = at === null ? 'switched off' : `connect ECONNREFUSED ${at.host}:${at.port}`;
  return { health: 'down', reason };
}

function directHealth(life: ProcessState | null): Health {
  const wrong = wrongWith(life);
  return wrong === '' ? { health: 'ok' } : { health: 'failing', reason: wrong };
}

/** What healthz says is wrong; empty where nothing is. */
export function wrongWith(life: ProcessState | null): string {
  const fault = life === null || life.stage === 'loading' ? null : life.fault;
  return fault?.fault === 'unhealthy' ? fault.reason : '';
}

async function askHealthz(port: number, signal: AbortSignal): Promise<Health> {
  try {
    const { status, text } = await get(port, '/healthz', signal);
    return status === 200 ? { health: 'ok' } : { health: 'failing', reason: text.trim() };
  } catch (error) {
    return { health: 'down', reason: reasonOf(error) };
  }
}

async function askConfigz(port: number, signal: AbortSignal): Promise<RunningConfig> {
  try {
    const { text } = await get(port, '/configz', signal);
    return { seen: true, config: (JSON.parse(text) as { readonly kubeletconfig: Config }).kubeletconfig };
  } catch (error) {
    return { seen: false, why: 'down', reason: reasonOf(error) };
  }
}

function get(port: number, path: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, agent: false, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    asking.once('error', reject);
    asking.end();
  });
}
