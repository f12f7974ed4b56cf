import { join } from 'node:path';
import { withFlags } from '#agent/kubelet/flags.ts';
import type { KubeletProbe } from '#agent/ports/kubelet-probe.ts';
import type { KubeletService } from '#agent/ports/kubelet-service.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import type { MemoryDisk } from './memory-disk.ts';

type Config = Readonly<Record<string, unknown>>;

const ROOT = '/var/lib/kubelet';
export const CONFIG_FILE = '/var/lib/kubelet/config.yaml';
export const DROP_INS = '/etc/kubernetes/kubelet.conf.d';
const STATE_FILE = join(ROOT, 'cpu_manager_state');

/** What becomes of a kubelet with a config. `shadowed`: it runs well, with another maxPods than it was told. */
export type Fate = 'healthy' | 'dies' | 'hangs' | 'shadowed';

/** One start: what the kubelet read, file by file, and why it came to nothing where the files themselves were to blame. */
export interface KubeletStart {
  readonly at: Millis;
  readonly files: Readonly<Record<string, string>>;
  readonly config: Config;
  readonly refused?: string;
}

/** A kubelet under a service manager with Restart=always: reads its files at every start, and lives on the test's clock. */
export interface FakeKubelet {
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  /** Starts, whoever made them. */
  starts(): number;
  /** What the agent said of each restart that it ordered. */
  readonly orders: readonly string[];
  /** Every start of this kubelet's life in this test. */
  readonly history: readonly KubeletStart[];
  running(): Config;
  isHealthy(): boolean;
  /** The program that starts it has not done so in this run. */
  isWaiting(): boolean;
  /** Somebody stopped it. */
  isStopped(): boolean;
  /** Ends the process and starts it again, as the end of the machine does. */
  reboot(): void;
  /** As somebody else than the agent does it. */
  restartByHand(): void;
  /** The program that starts it ends by itself, and is started again at once. */
  endProgram(): void;
  /** `systemctl stop`, by a person. `restartByHand` starts it again. */
  stopByHand(): void;
  /** From now on what the kubelet needs is away: an order stops it, and it does not start. */
  loseDependency(): void;
  /** From now on restarts cannot be ordered. */
  refuseRestarts(refuse: boolean): void;
  freeze(): FrozenKubelet;
  /** Lets go of every order and every start but the last, for tests of what an agent itself keeps. */
  forget(): void;
}

/** Goes on elsewhere as if nothing had happened. Times are before the moment it was frozen. */
export interface FrozenKubelet {
  readonly starts: number;
  readonly crashes: number;
  readonly isStopped: boolean;
  readonly last: KubeletStart;
}

export interface FakeKubeletOptions {
  readonly fateOf: (config: Config) => Fate;
  /** On its command line: they win over its files. */
  readonly flags?: readonly string[] | undefined;
  /** Whether the agent may read /configz; it may where that is left out. */
  readonly isSeen?: boolean | undefined;
  /** What it works with of what it was told; all of it where that is left out. */
  readonly shownOf?: ((config: Config) => Config) | undefined;
  /** ExecStartPre, where there is any now: the start waits for it. */
  readonly beforeStart?: () => Promise<void> | undefined;
  /** Another program starts it, and waits as long as this holds. */
  readonly hasToWait?: (() => boolean) | undefined;
  readonly frozen?: FrozenKubelet | undefined;
}

const START_MS = 3_000;
const RESTART_MS = 10_000;

export function createFakeKubelet(disk: MemoryDisk, clock: Clock, options: FakeKubeletOptions): FakeKubelet {
  const {
    fateOf,
    flags,
    isSeen = true,
    shownOf = (config) => config,
    beforeStart = () => undefined,
    hasToWait,
    frozen,
  } = options;
  const orders: string[] = [];
  const history: KubeletStart[] = frozen === undefined ? [] : [frozen.last];
  let firstStart = (frozen?.starts ?? 1) - 1;
  let crashes = frozen?.crashes ?? 0;
  let isStopped = frozen?.isStopped ?? false;
  let isUp = !isStopped;
  let isBegun = true;
  /** Starts of the unit. */
  let runs = frozen?.starts ?? 0;
  let refuse = false;
  let canStart = true;
  /** Of the start that counts: whatever was going to happen to an earlier one does not. */
  let order = 0;

  const last = (): KubeletStart => history.at(-1) ?? read(disk, clock.monotonic(), flags);
  const isDoomed = ({ config, refused }: KubeletStart): boolean => refused !== undefined || fateOf(config) === 'dies';
  const stop = (): void => {
    order += 1;
    isUp = false;
    isStopped = true;
  };
  const start = (): void => {
    if (!canStart) return stop();
    order += 1;
    const mine = order;
    const waiting = beforeStart();
    if (waiting === undefined) return begin(mine);
    isUp = false;
    void waiting.then(() => begin(mine));
  };
  const begin = (mine: number): void => {
    if (mine !== order) return;
    runs += 1;
    [isUp, isStopped, isBegun] = [true, false, true];
    if (hasToWait?.() === true) void wait(mine);
    else beginKubelet(mine);
  };
  const wait = async (mine: number): Promise<void> => {
    isBegun = false;
    for (let waits = true; waits; waits = hasToWait?.() === true) await clock.sleep(1_000);
    if (mine !== order) return;
    isBegun = true;
    beginKubelet(mine);
  };
  const beginKubelet = (mine: number): void => {
    history.push(read(disk, clock.monotonic(), flags));
    if (!isDoomed(last())) keepState(disk, last().config);
    void live(mine);
  };
  /** Dies when it has to, and is started again by the service manager, which counts that. */
  const live = async (mine: number): Promise<void> => {
    const run = last();
    if (!isDoomed(run)) return;
    await clock.sleep(run.at + START_MS - clock.monotonic());
    if (mine !== order) return;
    isUp = false;
    await clock.sleep(RESTART_MS);
    if (mine !== order) return;
    crashes += 1;
    start();
  };
  const isHealthy = (): boolean =>
    isUp &&
    isBegun &&
    !isDoomed(last()) &&
    fateOf(last().config) !== 'hangs' &&
    clock.monotonic() >= last().at + START_MS;
  if (frozen === undefined) start();
  else if (isUp) void live(order);

  return {
    orders,
    history,
    starts: () => firstStart + history.length,
    running: () => last().config,
    isHealthy,
    isWaiting: () => isUp && !isBegun,
    isStopped: () => isStopped,
    reboot() {
      crashes = 0;
      start();
    },
    restartByHand() {
      crashes = 0;
      start();
    },
    endProgram() {
      crashes += 1;
      start();
    },
    stopByHand: stop,
    loseDependency: () => {
      canStart = false;
    },
    refuseRestarts: (next) => {
      refuse = next;
    },
    freeze: () => ({
      starts: firstStart + history.length,
      crashes,
      isStopped,
      last: { ...last(), at: last().at - clock.monotonic() },
    }),
    forget() {
      orders.length = 0;
      firstStart += history.splice(0, history.length - 1).length;
    },
    service: {
      pollMs: 10_000,
      watch: () => () => undefined,
      async status() {
        const lastExit = crashes === 0 ? {} : { lastExit: 'exit-code 1' };
        if (isStopped) return { state: 'stopped', run: null, automaticRestarts: 0, wasStopped: true };
        return isUp
          ? {
              state: isBegun ? 'running' : 'starting',
              run: `run-${runs}`,
              pid: 4711,
              automaticRestarts: crashes,
              ...lastExit,
            }
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
        if (healthz?.port !== (last().config['healthzPort'] ?? 10248))
          return { health: 'down', reason: 'nobody listens' };
        return isHealthy() ? { health: 'ok' } : { health: 'down', reason: 'connection refused' };
      },
      async runningConfig() {
        if (!isHealthy()) return { seen: false, why: 'down', reason: 'connection refused' };
        if (!isSeen) return { seen: false, why: 'forbidden', reason: 'it may not be read' };
        const config = shownOf(last().config);
        return { seen: true, config: fateOf(config) === 'shadowed' ? { ...config, maxPods: 110 } : config };
      },
      podHarm: () => Promise.resolve(null),
      counters: () => Promise.resolve(null),
    },
  };
}

/** Reads what a kubelet reads at its start. It refuses what is not whole, and the state of another policy's manager. */
function read(disk: MemoryDisk, at: Millis, flags: readonly string[] | undefined): KubeletStart {
  const tree = disk.tree();
  const dropIns = Object.keys(tree).filter((path) => path.startsWith(`${DROP_INS}/`) && path.endsWith('.conf'));
  const paths = [CONFIG_FILE, ...dropIns.toSorted((one, other) => (one < other ? -1 : 1))];
  const files = Object.fromEntries(paths.flatMap((path) => (path in tree ? [[path, tree[path] ?? '']] : [])));
  let config: Config = {};
  for (const [path, text] of Object.entries(files)) {
    const value = decoded(text);
    if (value === undefined) return { at, files, config, refused: `${path} cannot be decoded` };
    config = mergePatch(config, value) as Config;
  }
  config = withFlags(config, flags);
  const policy = statePolicy(tree[STATE_FILE]);
  if (policy === undefined || policy === policyOf(config)) return { at, files, config };
  return { at, files, config, refused: `${STATE_FILE} is of the policy ${policy}` };
}

/** Undefined where there is no state. */
function statePolicy(state: string | undefined): string | undefined {
  if (state === undefined) return undefined;
  try {
    return String((JSON.parse(state) as { readonly policyName?: unknown }).policyName);
  } catch {
    return 'that was torn';
  }
}

const policyOf = ({ cpuManagerPolicy }: { readonly cpuManagerPolicy?: unknown }): string =>
  typeof cpuManagerPolicy === 'string' ? cpuManagerPolicy : 'none';

function keepState(disk: MemoryDisk, config: Config): void {
  if (disk.tree()[STATE_FILE] !== undefined) return;
  disk.plant(STATE_FILE, JSON.stringify({ policyName: policyOf(config), defaultCpuSet: '', checksum: 1 }));
}

const known = new Map<string, Config | undefined>();

function decoded(text: string): Config | undefined {
  if (!known.has(text)) setNewest(known, text, decodeKubeletConfig(Buffer.from(text, 'utf8')).value, 100);
  return known.get(text);
}
