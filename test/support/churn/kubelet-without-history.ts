import type { KubeletProbe } from '#agent/ports/kubelet-probe.ts';
import type { KubeletService } from '#agent/ports/kubelet-service.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { FilesWithoutHistory } from './files-without-history.ts';

type Config = Readonly<Record<string, unknown>>;

/** A kubelet under Restart=always that remembers its present run and nothing of those before it. */
export interface KubeletWithoutHistory {
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  starts(): number;
  running(): Config;
}

const START_MS: Millis = 1_000;
const RESTART_MS: Millis = 1_000;

/**
 * @param paths what it reads at each start, later ones over earlier ones
 * @param dies  whether it ends shortly after it was started with this config
 */
export function createKubeletWithoutHistory(
  files: FilesWithoutHistory,
  clock: Clock,
  paths: readonly string[],
  dies: (config: Config) => boolean,
): KubeletWithoutHistory {
  let starts = 0;
  let crashes = 0;
  let config: Config = {};
  let startedAt: Millis = 0;
  let isUp = false;
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());

  const read = (): Config => {
    const parts = paths.flatMap((path) => {
      const text = files.text(path);
      return text === undefined ? [] : [decodeKubeletConfig(Buffer.from(text)).value ?? {}];
    });
    return parts.reduce((whole, part) => mergePatch(whole, part) as Config, {});
  };
  const start = (): void => {
    starts += 1;
    config = read();
    startedAt = clock.monotonic();
    isUp = true;
    tell();
    if (dies(config)) void die(starts);
  };
  const die = async (mine: number): Promise<void> => {
    await clock.sleep(START_MS);
    if (mine !== starts) return;
    isUp = false;
    tell();
    await clock.sleep(RESTART_MS);
    if (mine !== starts) return;
    crashes += 1;
    start();
  };
  const isHealthy = (): boolean => isUp && !dies(config) && clock.monotonic() >= startedAt + START_MS;
  start();

  return {
    starts: () => starts,
    running: () => config,
    service: {
      pollMs: 10_000,
      watch(changed) {
        listeners.add(changed);
        return () => listeners.delete(changed);
      },
      async status() {
        return isUp
          ? { state: 'running', run: `run-${starts}`, automaticRestarts: crashes }
          : { state: 'starting', run: null, automaticRestarts: crashes, lastExit: 'exit-code 1' };
      },
      async restart() {
        crashes = 0;
        start();
      },
    },
    probe: {
      health: async () => (isHealthy() ? { health: 'ok' } : { health: 'down', reason: 'connection refused' }),
      runningConfig: async () =>
        isHealthy() ? { seen: true, config } : { seen: false, why: 'down', reason: 'connection refused' },
      podHarm: () => Promise.resolve(null),
      counters: () => Promise.resolve(null),
    },
  };
}
