import type { KubeletProbe } from '#agent/ports/kubelet-probe.ts';
import { type Agent, type AgentPorts, createAgent, versionFileIn } from '#agent/agent.ts';
import { createOwnNode } from '#agent/observe/own-node.ts';
import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { boundDisk } from '#agent/host/disk/bounded-disk.ts';
import type { KubeletService } from '#agent/ports/kubelet-service.ts';
import type { KubeletStarter } from '#agent/ports/kubelet-start.ts';
import type { MarkLog, ReadLastErrors } from '#agent/ports/last-errors.ts';
import type { Validate } from '#agent/staging/check-config.ts';
import { noPreflight, type Preflight } from '#agent/ports/preflight.ts';
import { createUnsupportedUnit } from '#agent/staging/refuse-unsupported-unit.ts';
import type { ApplyMode, KubeletNodeStatus, RebootOrder, TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { createFakeKube, type FakeKube } from './fake-kube.ts';
import { createFakeGuard, type FrozenGuard } from './fake-guard.ts';
import {
  CONFIG_FILE,
  createFakeKubelet,
  DROP_INS,
  type FakeKubelet,
  type Fate,
  type FrozenKubelet,
} from './fake-kubelet.ts';
import { createJournaledFiles, type FrozenFiles } from './journaled-files.ts';
import { createMemoryDisk, type MemoryDisk } from './memory-disk.ts';
import { createCrashInjector, type CrashInjector, type Point, type InjectedFault } from './crash-injection.ts';
import { installerOn } from './installer-on.ts';

export const NODE = 'node-1';
export const STATE = '/var/lib/kubelet-gitops';
export const LOCAL_FILE = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n';
/** What somebody may put in its place. */
export const NEW_LOCAL_FILE = `${LOCAL_FILE}podPidsLimit: 2048\n`;
const NAMESPACE = 'kubelet-gitops';
const QUICK: TrialSpec = { duration: '1m', startTimeout: '30s', maxRestarts: 2 };

export interface WholeNodeOptions {
  /** By the maxPods that the kubelet was started with; healthy where it says nothing. */
  readonly fates?: Readonly<Record<number, Fate>>;
  /** Of the kubelet's command line. */
  readonly flags?: readonly string[];
  readonly dropIns?: boolean;
  /** Whether the installer hears of the kubelet's version as the agent does; otherwise it is 1.34 forever. */
  readonly isVersionFollowed?: boolean;
  /** Files of the kubelet's `--config-dir` that are not ours. */
  readonly theirDropIns?: Awaited<ReturnType<NonNullable<AgentPorts['dropIns']>>>;
  /** Of all but a few configs the fate is in `fates`. */
  readonly fateOf?: (config: Readonly<Record<string, unknown>>) => Fate | undefined;
  /** Whether the agent may read the kubelet's /configz. */
  readonly isSeen?: boolean;
  /** What the kubelet works with of what it was told. */
  readonly shownOf?: (config: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly validate?: Validate;
  readonly preflight?: Preflight;
  readonly lastWords?: ReadLastErrors;
  /** Marks the kubelet's own log file. */
  readonly markLog?: MarkLog;
  readonly outOfMemory?: AgentPorts['outOfMemory'];
  readonly numaNodes?: AgentPorts['numaNodes'];
  readonly podHarm?: KubeletProbe['podHarm'];
  /** Whether the service manager can be told of a guard. */
  readonly guard?: boolean;
  /** Why this machine is none that the agent can look after; undefined, the default, where it is. */
  readonly unfitness?: () => Promise<string | undefined>;
  /** The guard watches boots, too: whether the kubelet has pods of the API server then. */
  readonly hasPods?: () => boolean;
  /** Whether it has the agent's own pod. */
  readonly hasAgentPod?: () => boolean;
  /** Of the guard's script on the host: what it comes to at each of its points. */
  readonly strikeGuard?: (point: Point) => InjectedFault;
  readonly uninstall?: AgentPorts['uninstall'];
  readonly log?: AgentPorts['log'];
  /** What an order to restart comes to; it is carried out where that is left out. */
  readonly restart?: () => Promise<void> | undefined;
  /** Another program starts the kubelet, and waits before as long as it has to. */
  readonly starter?: KubeletStarter & { readonly hasToWait: () => boolean };
  /** Whether calls of the disk that hang are given up. */
  readonly isDiskBounded?: boolean;
  /** Goes on from there, without an agent. */
  readonly from?: FrozenNode;
}

/** Everything of a node but its agent's memory. */
export interface FrozenNode {
  readonly files: FrozenFiles;
  readonly kubelet: FrozenKubelet;
  readonly objects: ReturnType<FakeKube['objects']>;
  readonly boots: number;
  readonly now: Millis;
  readonly guard: FrozenGuard;
  readonly uptimeMs: Millis;
}

/** The whole agent with its real installer, on a disk, a kubelet, an API server and a clock that belong to the test. */
export interface WholeNode {
  readonly kube: FakeKube;
  readonly kubelet: FakeKubelet;
  readonly disk: MemoryDisk;
  readonly clock: ManualClock;
  /** Makes the config source for these fields and assigns it. @returns its name */
  assign(
    fields: Readonly<Record<string, unknown>>,
    about?: {
      readonly apply?: ApplyMode;
      readonly keepFields?: readonly string[];
      readonly trial?: TrialSpec;
      readonly payload?: string;
      readonly reboot?: RebootOrder;
    },
  ): string;
  unassign(): void;
  /** Gives the node the turn that its status asks for, if it does. */
  grant(): void;
  /** SHA-256 of the payload that is assigned. */
  wanted(): string | undefined;
  status(): KubeletNodeStatus;
  maxPods(): unknown;
  pass(ms: Millis): Promise<void>;
  /** Lets time pass in steps of a second until it holds. @throws after ten minutes */
  until(what: string, holds: () => boolean): Promise<void>;
  agent(): Agent;
  /** Ends the agent, as if its process were gone. At the end of a test nobody has to: its clock stands still, and it holds nothing. */
  stop(): Promise<void>;
  /** Starts an agent; it comes to whatever `strike` says of each of its points, and `strikeRead` of each path that it reads. */
  start(strike?: (point: Point) => InjectedFault, strikeRead?: (path: string) => string | undefined): void;
  /** Ends the agent in the middle of whatever it is doing. */
  kill(): void;
  reboot(): void;
  /** The agent looks again and again without a pause, and was ended for that. */
  spins(): boolean;
  freeze(): FrozenNode;
}

export function createWholeNode(options: WholeNodeOptions = {}): WholeNode {
  const { fates = {}, dropIns = true, from } = options;
  const kube = createFakeKube();
  const disk = createMemoryDisk(createJournaledFiles(from?.files));
  const clock = createManualClock(from?.now);
  const unsupported = createUnsupportedUnit(options.unfitness ?? (() => Promise.resolve(undefined)), silentLog);
  let boots = from?.boots ?? 1;
  let bootedAt: Millis = -(from?.uptimeMs ?? 0);
  let agent: Agent;
  let stop = new AbortController();
  let process = createCrashInjector();
  let running: Promise<void> = Promise.resolve();
  let looks = { at: 0, count: 0 };
  if (from === undefined) provision(disk, kube);
  for (const [plural, object] of from?.objects ?? []) kube.put(plural, object);

  const guard = createFakeGuard({
    stateDirectory: STATE,
    files: disk.files,
    clock,
    bootId: () => `boot-${boots}`,
    uptimeMs: () => clock.monotonic() - bootedAt,
    // With Restart=always it is never down for good.
    isKubeletDown: () => false,
    restartKubelet: () => kubelet.restartByHand(),
    isKubeletStopped: () => kubelet.isStopped(),
    hasPods: options.hasPods,
    hasAgentPod: options.hasAgentPod,
    process: createCrashInjector(options.strikeGuard),
    frozen: from?.guard,
  });
  const kubelet: FakeKubelet = createFakeKubelet(disk, clock, {
    flags: options.flags,
    isSeen: options.isSeen,
    shownOf: options.shownOf,
    fateOf: (config) => options.fateOf?.(config) ?? fates[Number(config['maxPods'])] ?? 'healthy',
    beforeStart: guard.beforeStart,
    hasToWait: options.starter?.hasToWait,
    frozen: from?.kubelet,
  });

  const node: WholeNode = {
    kube,
    kubelet,
    disk,
    clock,
    assign(fields, { trial = QUICK, payload = payloadOf(fields), ...about } = {}) {
      const name = configMapName('general', payload);
      kube.put('configmaps', {
        metadata: { name, namespace: NAMESPACE, uid: `uid-${name}` },
        data: { kubelet: payload },
      });
      const configSource = {
        namespace: NAMESPACE,
        name,
        uid: `uid-${name}`,
        resourceVersion: '7',
        key: 'kubelet',
        sha256: payloadSha256(payload),
      };
      kube.assign(NODE, {
        pool: 'general',
        commit: 'c0ffee',
        configSource,
        apply: 'overlay',
        trial,
        keepFields: [],
        ...about,
      });
      return name;
    },
    unassign: () => kube.assign(NODE, {}),
    grant() {
      const request = kube.status(NODE).awaitsTurn;
      if (!request || kube.spec(NODE).turn?.seen === request.seen) return;
      kube.assign(NODE, { ...kube.spec(NODE), turn: { seen: request.seen } });
    },
    wanted: () => kube.spec(NODE).configSource?.sha256,
    status: () => kube.status(NODE),
    maxPods: () => kubelet.running()['maxPods'],
    pass: (ms) => clock.advance(ms),
    async until(what, holds) {
      for (let seconds = 0; !holds(); seconds += 1) {
        if (seconds > 600)
          throw new Error(`not within ten minutes: ${what}\n${JSON.stringify(node.status(), null, 1)}`);
        await clock.advance(1_000);
      }
    },
    agent: () => agent,
    async stop() {
      stop.abort();
      await clock.advance(0);
      // A dead one never ends.
      await Promise.race([running, clock.advance(1)]);
    },
    start(strike, strikeRead) {
      stop = new AbortController();
      process = createCrashInjector(strike, strikeRead);
      const { alive } = process;
      const mortal = disk.forProcess(process);
      const mortalDisk = options.isDiskBounded === true ? boundDisk(mortal, clock) : mortal;
      const ownNode = options.isVersionFollowed
        ? createOwnNode({ kube, nodeName: NODE, clock, disk: mortalDisk, versionFile: versionFileIn(STATE) })
        : undefined;
      agent = createAgent({
        ...(ownNode && { ownNode }),
        nodeName: NODE,
        stateDirectory: STATE,
        kube: {
          ...kube,
          get: alive(kube.get) as Kube['get'],
          mergePatch: alive(kube.mergePatch) as Kube['mergePatch'],
        },
        disk: mortalDisk,
        service: { ...kubelet.service, restart: restartOf(kubelet, process, options) },
        probe: { ...kubelet.probe, ...(options.podHarm === undefined ? {} : { podHarm: options.podHarm }) },
        kubeletStart: async () => (kubelet.isWaiting() ? options.starter : undefined),
        commandLine: async () => options.flags && { args: options.flags, seenIn: 'process' },
        dropIns: () => Promise.resolve(options.theirDropIns ?? []),
        installer: installerOn(mortalDisk, {
          nodeName: NODE,
          dropInDirectory: dropIns ? DROP_INS : undefined,
          kubeletMinor: async () => {
            const minor = ownNode && minorNumber((await ownNode.kubeletVersion()) ?? '');
            return minor === undefined ? '1.34' : minorName(minor);
          },
        }),
        bootId: alive(() => {
          looks =
            looks.at === clock.monotonic() ? { ...looks, count: looks.count + 1 } : { at: clock.monotonic(), count: 1 };
          // On a clock that stands still, it would go on forever.
          if (looks.count > MOST_LOOKS_AT_ONCE) process.kill();
          return Promise.resolve(`boot-${boots}`);
        }),
        clock,
        random: () => 0.5,
        log: options.log ?? silentLog,
        agentVersion: 'test',
        ...(options.guard === true ? { guard: unsupported.guard(guard.port(mortalDisk, process)) } : {}),
        ...(options.uninstall === undefined ? {} : { uninstall: options.uninstall }),
        ...(options.validate === undefined ? {} : { validate: options.validate }),
        preflight: unsupported.preflight(options.preflight ?? noPreflight),
        ...(options.outOfMemory === undefined ? {} : { outOfMemory: options.outOfMemory }),
        ...(options.numaNodes === undefined ? {} : { numaNodes: options.numaNodes }),
        ...(options.lastWords === undefined ? {} : { readLastErrors: options.lastWords }),
        ...(options.markLog === undefined ? {} : { markLog: options.markLog }),
      });
      running = agent.run(stop.signal);
    },
    kill() {
      process.kill();
      stop.abort();
    },
    reboot() {
      boots += 1;
      bootedAt = clock.monotonic();
      guard.reboot();
      kubelet.reboot();
    },
    spins: () => looks.count > MOST_LOOKS_AT_ONCE,
    freeze: () => ({
      files: disk.files.freeze(),
      kubelet: kubelet.freeze(),
      objects: kube.objects(),
      boots,
      now: clock.now(),
      guard: guard.freeze(),
      uptimeMs: clock.monotonic() - bootedAt,
    }),
  };
  if (from === undefined) node.start();
  return node;
}

const MOST_LOOKS_AT_ONCE = 200;

const DIRECTORIES = ['/var', '/var/lib', '/var/lib/kubelet', '/etc', '/etc/systemd', '/etc/systemd/system'];

function provision(disk: MemoryDisk, kube: FakeKube): void {
  for (const path of DIRECTORIES) disk.plant(path, { directory: true });
  disk.plant(CONFIG_FILE, LOCAL_FILE);
  kube.put('nodes', {
    metadata: { name: NODE },
    status: { nodeInfo: { kubeletVersion: 'v1.34.2' }, conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

const restartOf =
  ({ service }: FakeKubelet, process: CrashInjector, { restart }: WholeNodeOptions): KubeletService['restart'] =>
  (because, signal) =>
    process.at({ call: 'restart-kubelet', path: 'kubelet' }, () => restart?.() ?? service.restart(because, signal));

export const payloadOf = (fields: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields }, null, 2)}\n`;
