import { type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { NO_SIGNALS, type Signals } from '#reconciler/policy/signals.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../test/support/fleet.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { timed } from './support/timed.ts';

const NODES = 10_000;
const POOLS = 50;
const RUNS = 15;
/** Of what it takes to copy its input. */
const MOST_TIMES = 1.5;
const MACHINE = { cpu: '16', memory: '65806340Ki', 'ephemeral-storage': '103079200Ki', pods: '110' };
/** Pods may be counted, as the manifests have it. */
const SIGNALS: Signals = { ...NO_SIGNALS, pods: new Map() };
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };

interface Scene {
  readonly what: string;
  readonly fleet: Fleet;
  readonly desired: Desired;
}

/** One decision over ten thousand nodes, beside a plain copy of what it looks at. */
export async function measure(): Promise<readonly Measurement[]> {
  return scenes().flatMap(({ what, fleet, desired }) => {
    const input = [...fleet.kubeletNodes.values()];
    const decisions: number[] = [];
    const wanting: number[] = [];
    const copies: number[] = [];
    const inForce = commit(COMMIT_B, ...poolsOf(120));
    for (let run = 0; run < RUNS; run += 1) {
      decisions.push(timed(() => plan(desired, fleet, SETTINGS, NOW, SIGNALS)));
      wanting.push(timed(() => desiredState(inForce, fleet, () => [])));
      copies.push(timed(() => structuredClone(input)));
    }
    // The first ones are those of a program that V8 has yet to get to know.
    const warm = (values: readonly number[]): readonly number[] => values.slice(5);
    const baseline = { what: 'structuredClone of the KubeletNodes', values: warm(copies) };
    const decision = { subject: warm(decisions), baseline };
    return [
      {
        what: `${NODES} nodes, ${what}: one decision`,
        unit: 'ms',
        ...decision,
        promise: atMostTimes(MOST_TIMES, decision),
      },
      { what: `${NODES} nodes, ${what}: which pool each is in`, unit: 'ms', subject: warm(wanting), baseline },
    ];
  });
}

const poolName = (index: number): string => `pool-${String(index % POOLS).padStart(2, '0')}`;
const poolsOf = (maxPods: number): ValidPool[] =>
  Array.from({ length: POOLS }, (_, index) => validPool(poolName(index), maxPods, { rollout: ROLLOUT }));

const ROLLOUT = {
  maxUnavailable: '20%',
  maxUnavailablePerZone: '50%',
  soak: '5m',
  canary: { nodes: 1 },
  steps: [{ nodes: '50%' }],
  onFailure: { threshold: 1, action: 'halt' },
} as const;

function scenes(): readonly Scene[] {
  const [old, next] = [poolsOf(110), poolsOf(120)];
  const nodes = Array.from({ length: NODES }, (_, index) => {
    const zone = `zone-${'abc'.charAt(index % 3)}`;
    const labels = { pool: poolName(index), 'topology.kubernetes.io/zone': zone, 'kubernetes.io/os': 'linux' };
    const size = { kubeletVersion: 'v1.36.1', capacity: { ...MACHINE }, allocatable: { ...MACHINE } };
    return nodeView(`node-${index}`, '', { labels, size, createdAt: NOW - 86_400_000 - index * 1_000 });
  });
  const scene = (what: string, share: number): Scene => {
    const kubeletNodes = nodes.map((node, index) => {
      const [before, after] = [old[index % POOLS], next[index % POOLS]];
      if (before === undefined || after === undefined) throw new RangeError('a node without a pool');
      const place = Math.floor(index / POOLS) / (NODES / POOLS);
      if (place < share) return settledNode(node, after);
      if (place < share + 0.1) return assignedNode(node, after);
      return settledNode(node, before);
    });
    const fleet = fleetOf({
      nodes,
      kubeletNodes,
      configSources: [...old, ...next].map((pool) => configSource(pool)),
      pools: next.map((pool) => poolInCluster(pool)),
    });
    return { what, fleet, desired: desiredState(commit(COMMIT_B, ...next), fleet, () => []) };
  };
  return [scene('a commit that touches all', 0), scene('half-way through it', 0.5), scene('all settled', 1)];
}
