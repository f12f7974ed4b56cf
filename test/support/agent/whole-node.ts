import { type Agent, createAgent } from '#agent/agent.ts';
import type { Disk } from '#agent/disk/disk.ts';
import { createInstaller } from '#agent/kubelet/install.ts';
import type { Validate } from '#agent/staging/check.ts';
import type { Preflight } from '#agent/staging/preflight.ts';
import type { ApplyMode, KubeletNodeStatus, TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock, type ManualClock } from '../../shared/kube/support/manual-clock.ts';
import { createFakeKube, type FakeKube } from './fake-kube.ts';
import { CONFIG_FILE, createFakeKubelet, DROP_INS, type FakeKubelet, type Fate } from './fake-kubelet.ts';
import { createMemoryDisk, type MemoryDisk } from './memory-disk.ts';

export const NODE = 'node-1';
export const STATE = '/var/lib/kubelet-gitops';
export const LOCAL_FILE = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n';
const NAMESPACE = 'kubelet-gitops';
const QUICK: TrialSpec = { duration: '1m', startTimeout: '30s', maxRestarts: 2 };

export interface WholeNodeOptions {
  /** By the maxPods that the kubelet was started with; healthy where it says nothing. */
  readonly fates?: Readonly<Record<number, Fate>>;
  readonly dropIns?: boolean;
  readonly validate?: Validate;
  readonly preflight?: Preflight;
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
    about?: { readonly apply?: ApplyMode; readonly trial?: TrialSpec; readonly payload?: string },
  ): string;
  unassign(): void;
  status(): KubeletNodeStatus;
  maxPods(): unknown;
  pass(ms: Millis): Promise<void>;
  /** Lets time pass in steps of a second until it holds. @throws after ten minutes */
  until(what: string, holds: () => boolean): Promise<void>;
  agent(): Agent;
  /** Ends the agent, as if its process were gone. */
  stop(): Promise<void>;
  /** Starts an agent; one with so many effects left stops dead before the next, as a process that was killed. */
  start(effectsLeft?: number): void;
  reboot(): void;
}

export function createWholeNode(options: WholeNodeOptions = {}): WholeNode {
  const { fates = {}, dropIns = true } = options;
  const kube = createFakeKube();
  const disk = createMemoryDisk();
  const clock = createManualClock();
  disk.plant('/var/lib/kubelet', { directory: true });
  disk.plant(CONFIG_FILE, LOCAL_FILE);
  const kubelet = createFakeKubelet(disk, clock, (config) => fates[Number(config['maxPods'])] ?? 'healthy');
  kube.put('nodes', {
    metadata: { name: NODE },
    status: { nodeInfo: { kubeletVersion: 'v1.34.2' }, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  let boots = 1;
  let agent: Agent;
  let stop = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const node: WholeNode = {
    kube,
    kubelet,
    disk,
    clock,
    assign(fields, { apply = 'overlay', trial = QUICK, payload = payloadOf(fields) } = {}) {
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
      kube.assign(NODE, { pool: 'general', commit: 'c0ffee', configSource, apply, trial });
      return name;
    },
    unassign: () => kube.assign(NODE, {}),
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
    start(effectsLeft = Infinity) {
      stop = new AbortController();
      const mortal = mortality(effectsLeft);
      const mortalDisk = mortal.disk(disk);
      agent = createAgent({
        nodeName: NODE,
        stateDirectory: STATE,
        kube: mortal.kube(kube),
        disk: mortalDisk,
        service: { ...kubelet.service, restart: mortal.effect(kubelet.service.restart) },
        probe: kubelet.probe,
        installer: createInstaller({
          disk: mortalDisk,
          stateDirectory: STATE,
          configFile: CONFIG_FILE,
          dropInDirectory: dropIns ? DROP_INS : undefined,
          kubeletMinor: () => Promise.resolve('1.34'),
        }),
        bootId: () => Promise.resolve(`boot-${boots}`),
        clock,
        random: () => 0.5,
        log: silentLog,
        agentVersion: 'test',
        ...(options.validate === undefined ? {} : { validate: options.validate }),
        ...(options.preflight === undefined ? {} : { preflight: options.preflight }),
      });
      running = agent.run(stop.signal);
    },
    reboot() {
      boots += 1;
      kubelet.reboot();
    },
  };
  node.start();
  return node;
}

type Effect<A extends readonly unknown[], R> = (...args: A) => Promise<R>;

/** Effects of a process that is killed after so many of them: what it begins then never happens and never returns. */
function mortality(effectsLeft: number) {
  let left = effectsLeft;
  const effect =
    <A extends readonly unknown[], R>(work: Effect<A, R>): Effect<A, R> =>
    (...args) => {
      left -= 1;
      return left < 0 ? new Promise<never>(() => undefined) : work(...args);
    };
  const orNever = <A extends readonly unknown[], R>(work: Effect<A, R>): Effect<A, R> => {
    return (...args) => (left < 0 ? new Promise<never>(() => undefined) : work(...args));
  };
  return {
    effect,
    kube: (kube: FakeKube): Kube => ({
      ...kube,
      get: orNever(kube.get) as Kube['get'],
      mergePatch: orNever(kube.mergePatch) as Kube['mergePatch'],
    }),
    disk: (disk: Disk): Disk => ({
      read: disk.read,
      stat: disk.stat,
      list: disk.list,
      replace: effect(disk.replace),
      makeDirectory: effect(disk.makeDirectory),
      remove: effect(disk.remove),
    }),
  };
}

export const payloadOf = (fields: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields }, null, 2)}\n`;
