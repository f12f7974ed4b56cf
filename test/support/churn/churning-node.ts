import { join } from 'node:path';
import { createAgent } from '#agent/agent.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { createHostGuard } from '#agent/guard/host-guard.ts';
import { DROP_IN_NAME } from '#agent/kubelet/install-drop-ins.ts';
import { activeOf, type Config, type State } from '#agent/decide/state.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../manual-clock.ts';
import { createFakeKube } from '../agent/fake-kube.ts';
import { createFilesWithoutHistory, type FilesWithoutHistory } from './files-without-history.ts';
import { createKubeletWithoutHistory, type KubeletWithoutHistory } from './kubelet-without-history.ts';
import { installerOn } from '../agent/installer-on.ts';

const NODE = 'node-1';
const NAMESPACE = 'kubelet-gitops';
const STATE = '/var/lib/kubelet-gitops';
const CONFIG_FILE = '/var/lib/kubelet/config.yaml';
const DROP_INS = '/etc/kubernetes/kubelet.conf.d';
const UNIT_DIRECTORY = '/etc/systemd/system/kubelet.service.d';
const LOCAL = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n';
/** maxPods with which the kubelet ends shortly after each start. */
export const DEADLY = 250;

/** The most that the state directory ever held, at any of the looks. */
export interface Most {
  readonly files: number;
  readonly bytes: number;
  readonly checkpoints: number;
}

/**
 * The whole agent on a node that forgets everything but its present, so that whatever grows is the agent's. At each
 * second that passes here, what must never be lost is looked for.
 */
export interface ChurningNode {
  readonly kubelet: KubeletWithoutHistory;
  /** Makes a config source and assigns it; the one before goes from the API server. @returns its name */
  assign(fields: Readonly<Record<string, unknown>>): string;
  /** The same content from a ConfigMap that was deleted and made again. @returns its name */
  assignAnew(): string;
  unassign(): void;
  status(): KubeletNodeStatus;
  /** @throws where something is lost that has to be kept */
  pass(seconds: number): Promise<void>;
  /** @throws after ten minutes, or where something is lost that has to be kept */
  until(what: string, holds: () => boolean): Promise<void>;
  most(): Most;
  stop(): Promise<void>;
}

export function createChurningNode(): ChurningNode {
  const clock = createManualClock();
  const kube = createFakeKube();
  const files = createFilesWithoutHistory();
  files.put(CONFIG_FILE, LOCAL);
  for (const directory of [DROP_INS, '/etc/systemd/system']) files.put(`${directory}/.keep`, '');
  kube.put('nodes', {
    metadata: { name: NODE },
    status: { nodeInfo: { kubeletVersion: 'v1.34.2' }, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const ours = join(DROP_INS, DROP_IN_NAME);
  const kubelet = createKubeletWithoutHistory(files, clock, [CONFIG_FILE, ours], ({ maxPods }) => maxPods === DEADLY);
  const disk = createNodeDisk(files.calls);
  const agent = createAgent({
    nodeName: NODE,
    stateDirectory: STATE,
    kube,
    disk,
    service: kubelet.service,
    probe: kubelet.probe,
    installer: installerOn(disk, { dropInDirectory: DROP_INS }),
    guard: createHostGuard({
      disk,
      stateDirectory: STATE,
      unit: 'kubelet.service',
      unitDirectory: UNIT_DIRECTORY,
      systemd: {
        daemonReload: () => Promise.resolve(),
        stopUnit: () => Promise.resolve(),
        dropInsOf: () => Promise.resolve([...files.below(UNIT_DIRECTORY).keys()]),
        startTimeoutOf: () => Promise.resolve(90),
      },
      script: () => Promise.resolve(Buffer.from('# stands for the script\n')),
      bootId: () => Promise.resolve('boot-1'),
      uptimeSeconds: () => Promise.resolve(clock.monotonic() / 1000),
    }),
    bootId: () => Promise.resolve('boot-1'),
    clock,
    random: () => 0.5,
    log: silentLog,
    agentVersion: 'test',
  });
  const stop = new AbortController();
  const running = agent.run(stop.signal);

  let most: Most = { files: 0, bytes: 0, checkpoints: 0 };
  const look = (): void => {
    const lost = whatIsLost(agent.state(), files);
    if (lost !== undefined) throw new Error(`${lost}; the state is ${JSON.stringify(agent.state(), null, 1)}`);
    most = withMost(most, files);
    // It keeps for tests what a server would forget.
    kube.calls.length = 0;
  };
  let current = { name: '', payload: '' };
  let made = 0;
  const assign = (payload: string): string => {
    made += 1;
    const name = configMapName('general', payload);
    const uid = String(made).padStart(36, '0');
    kube.remove('configmaps', current.name);
    current = { name, payload };
    kube.put('configmaps', { metadata: { name, namespace: NAMESPACE, uid }, data: { kubelet: payload } });
    const source = { namespace: NAMESPACE, name, uid, resourceVersion: uid.slice(-9), key: 'kubelet' };
    kube.assign(NODE, {
      pool: 'general',
      commit: 'c0ffee',
      configSource: { ...source, sha256: payloadSha256(payload) },
      apply: 'overlay',
      trial: { duration: '10s', startTimeout: '30s', maxRestarts: 0 },
    });
    return name;
  };

  const node: ChurningNode = {
    kubelet,
    assign: (fields) =>
      assign(JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields })),
    assignAnew: () => assign(current.payload),
    unassign: () => kube.assign(NODE, {}),
    status: () => kube.status(NODE),
    async pass(seconds) {
      for (let second = 0; second < seconds; second += 1) {
        await clock.advance(1_000);
        look();
      }
    },
    async until(what, holds) {
      for (let seconds = 0; !holds(); seconds += 1) {
        if (seconds > 600) throw new Error(`not within ten minutes: ${what}\n${JSON.stringify(node.status())}`);
        await node.pass(1);
      }
    },
    most: () => most,
    async stop() {
      stop.abort();
      await clock.advance(0);
      await running;
    },
  };
  return node;
}

/** What of assigned, active, lastKnownGood and local is not on the disk; undefined where all of them are. */
function whatIsLost(state: State, files: FilesWithoutHistory): string | undefined {
  const named = { assigned: state.assigned, active: activeOf(state), lastKnownGood: state.lastKnownGood };
  for (const [role, target] of Object.entries(named)) {
    if (target !== null && !isKept(target, files)) return `the checkpoint of ${role}, ${target.source.name}, is lost`;
  }
  const isLocalSafe = files.text(CONFIG_FILE) === LOCAL || files.text(`${STATE}/local/kubelet`) === LOCAL;
  return isLocalSafe ? undefined : 'the local config is lost';
}

function isKept({ source: { uid, resourceVersion, key, sha256 } }: Config, files: FilesWithoutHistory): boolean {
  const text = files.text(`${STATE}/checkpoints/${uid}/${resourceVersion}/${key}`);
  return text !== undefined && payloadSha256(text) === sha256;
}

function withMost(most: Most, files: FilesWithoutHistory): Most {
  const state = files.below(STATE);
  const bytes = [...state.values()].reduce((sum, { length }) => sum + length, 0);
  const checkpoints = [...state.keys()].filter((path) => path.startsWith(`${STATE}/checkpoints/`)).length;
  return {
    files: Math.max(most.files, state.size),
    bytes: Math.max(most.bytes, bytes),
    checkpoints: Math.max(most.checkpoints, checkpoints),
  };
}
