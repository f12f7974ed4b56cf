import type { KubeletProbe } from '#agent/kubelet/probe.ts';
import type { KubeletService } from '#agent/kubelet/service.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { MemoryDisk } from './memory-disk.ts';

type Config = Readonly<Record<string, unknown>>;

export const CONFIG_FILE = '/var/lib/kubelet/config.yaml';
export const DROP_INS = '/etc/kubernetes/kubelet.conf.d';

/** What becomes of a kubelet with a config. `shadowed`: it runs well, with another maxPods than it was told. */
export type Fate = 'healthy' | 'dies' | 'hangs' | 'shadowed';

/** A kubelet under a service manager with Restart=always: reads its files at every start, and lives on the test's clock. */
export interface FakeKubelet {
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  /** Starts, whoever made them. */
  starts(): number;
  /** What the agent said of each restart that it ordered. */
  readonly orders: string[];
  running(): Config;
  /** Ends the process and starts it anew, as the end of the machine does. */
  reboot(): void;
  /** From now on restarts cannot be ordered. */
  refuseRestarts(refuse: boolean): void;
}

const START_MS = 3_000;
const RESTART_MS = 10_000;

export function createFakeKubelet(disk: MemoryDisk, clock: Clock, fateOf: (config: Config) => Fate): FakeKubelet {
  const orders: string[] = [];
  let config: Config = {};
  let startedAt = -Infinity;
  let starts = 0;
  let crashes = 0;
  let diedAt: number | null = null;
  let refuse = false;

  const read = (): Config => {
    const tree = disk.tree();
    const dropIns = Object.keys(tree).filter((path) => path.startsWith(`${DROP_INS}/`) && path.endsWith('.conf'));
    return [CONFIG_FILE, ...dropIns.sort()].reduce<Config>((whole, path) => {
      const { value } = decodeKubeletConfig(Buffer.from(tree[path] ?? '', 'utf8'), path);
      return mergePatch(whole, value ?? {}) as Config;
    }, {});
  };
  const start = (): void => {
    config = read();
    starts += 1;
    startedAt = clock.monotonic();
    diedAt = null;
  };
  /** Lets happen what has happened since the last look. */
  const settle = (): void => {
    while (fateOf(config) === 'dies') {
      diedAt ??= startedAt + START_MS;
      if (clock.monotonic() < diedAt + RESTART_MS) return;
      const at = diedAt + RESTART_MS;
      start();
      startedAt = at;
      crashes += 1;
    }
  };
  const isUp = (): boolean => diedAt === null || clock.monotonic() < diedAt;
  const isHealthy = (): boolean => isUp() && fateOf(config) !== 'hangs' && clock.monotonic() >= startedAt + START_MS;
  start();

  return {
    orders,
    starts: () => starts,
    running: () => config,
    reboot() {
      crashes = 0;
      start();
    },
    refuseRestarts: (next) => {
      refuse = next;
    },
    service: {
      pollMs: 10_000,
      watch: () => () => undefined,
      async status() {
        settle();
        const lastExit = crashes === 0 ? {} : { lastExit: 'exit-code 1' };
        return isUp()
          ? { state: 'running', run: `run-${starts}`, automaticRestarts: crashes, ...lastExit }
          : { state: 'starting', run: null, automaticRestarts: crashes, lastExit: 'exit-code 1' };
      },
      async restart(because) {
        if (refuse) throw new GitopsError('SERVICE_RESTART_FAILED', 'the bus is away');
        orders.push(because);
        crashes = 0;
        start();
      },
    },
    probe: {
      async health({ healthz }) {
        settle();
        if (healthz?.port !== (config['healthzPort'] ?? 10248)) return { health: 'down', reason: 'nobody listens' };
        return isHealthy() ? { health: 'ok' } : { health: 'down', reason: 'connection refused' };
      },
      async runningConfig() {
        settle();
        if (!isHealthy()) return { seen: false, why: 'down', reason: 'connection refused' };
        return { seen: true, config: fateOf(config) === 'shadowed' ? { ...config, maxPods: 110 } : config };
      },
    },
  };
}
