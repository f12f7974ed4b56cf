import { activeOf, type Config, type State } from '#agent/decide/state.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { CONFIG_FILE, type FakeKubelet } from '../agent/fake-kubelet.ts';
import { createWholeNode, LOCAL_FILE, NODE, payloadOf, STATE } from '../agent/whole-node.ts';

/** maxPods with which the kubelet ends shortly after each start. */
export const DEADLY = 250;

type Tree = Readonly<Record<string, string>>;

/** The most that the state directory ever held, at any of the looks. */
export interface Most {
  readonly files: number;
  readonly bytes: number;
  readonly checkpoints: number;
}

/**
 * A whole node that forgets everything but its present, so that whatever grows is the agent's. At each second that passes
 * here, what must never be lost is looked for.
 */
export interface ChurningNode {
  readonly kubelet: FakeKubelet;
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
  const whole = createWholeNode({ fates: { [DEADLY]: 'dies' }, guard: true });
  const { kube, kubelet, disk } = whole;
  let most: Most = { files: 0, bytes: 0, checkpoints: 0 };
  const look = (): void => {
    const tree = disk.tree();
    const lost = whatIsLost(whole.agent().state(), tree);
    if (lost !== undefined) throw new Error(`${lost}; the state is ${JSON.stringify(whole.agent().state(), null, 1)}`);
    most = withMost(most, tree);
    // They keep for tests what a server, a service manager and a disk would forget.
    kube.calls.length = 0;
    kube.patches.length = 0;
    kubelet.forget();
    disk.files.sync();
  };
  let current = { name: '', payload: '' };
  let made = 0;
  const assign = (payload: string): string => {
    made += 1;
    const uid = String(made).padStart(36, '0');
    kube.remove('configmaps', current.name);
    current = { name: configMapName('general', payload), payload };
    const source = { namespace: 'kubelet-gitops', name: current.name, uid };
    kube.put('configmaps', { metadata: source, data: { kubelet: payload } });
    kube.assign(NODE, {
      pool: 'general',
      commit: 'c0ffee',
      configSource: { ...source, resourceVersion: uid.slice(-9), key: 'kubelet', sha256: payloadSha256(payload) },
      apply: 'overlay',
      trial: { duration: '10s', startTimeout: '30s', maxRestarts: 0 },
    });
    return current.name;
  };

  const node: ChurningNode = {
    kubelet,
    assign: (fields) => assign(payloadOf(fields)),
    assignAnew: () => assign(current.payload),
    unassign: whole.unassign,
    status: whole.status,
    async pass(seconds) {
      for (let second = 0; second < seconds; second += 1) {
        await whole.pass(1_000);
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
    stop: whole.stop,
  };
  return node;
}

/** What of assigned, active, lastKnownGood and local is not on the disk; undefined where all of them are. */
function whatIsLost(state: State, tree: Tree): string | undefined {
  const named = { assigned: state.assigned, active: activeOf(state), lastKnownGood: state.lastKnownGood };
  for (const [role, target] of Object.entries(named)) {
    if (target !== null && !isKept(target, tree)) return `the checkpoint of ${role}, ${target.source.name}, is lost`;
  }
  const isLocalSafe = [tree[CONFIG_FILE], tree[`${STATE}/local/kubelet`]].includes(LOCAL_FILE);
  return isLocalSafe ? undefined : 'the local config is lost';
}

function isKept({ source: { uid, resourceVersion, key, sha256 } }: Config, tree: Tree): boolean {
  const text = tree[`${STATE}/checkpoints/${uid}/${resourceVersion}/${key}`];
  return text !== undefined && payloadSha256(text) === sha256;
}

function withMost(most: Most, tree: Tree): Most {
  const below = Object.entries(tree).filter(([path, text]) => path.startsWith(`${STATE}/`) && text !== '(directory)');
  const checkpoints = below.filter(([path]) => path.startsWith(`${STATE}/checkpoints/`)).length;
  return {
    files: Math.max(most.files, below.length),
    bytes: Math.max(
      most.bytes,
      below.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0),
    ),
    checkpoints: Math.max(most.checkpoints, checkpoints),
  };
}
