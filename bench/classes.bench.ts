import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type CommitInForce, type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { NodeSize } from '#reconciler/policy/allocatable/allocatable.ts';
import { plan, type Plan } from '#reconciler/policy/plan.ts';
import { writtenRecords } from '#reconciler/policy/proof/own-records.ts';
import { NO_SIGNALS } from '#reconciler/policy/signals.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
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
} from '../test/support/fleet.ts';
import { filesOf, KUBELET, POOL } from '../test/reconciler/policy/config-repo/support/load.ts';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { timed } from './support/timed.ts';

const NODES = 10_000;
const POOLS = 50;
const TYPES = 40;
const RUNS = 15;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const COMPUTED = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n';

/** Of what it takes to copy its input. */
const MOST_TIMES = 1.2;

/** One decision over ten thousand nodes of forty types, with computed values and with the same pools without. */
export async function measure(): Promise<readonly Measurement[]> {
  const [followed, constant] = [worldOf(poolsOf('profile: gke\n')), worldOf(poolsOf(undefined))];
  const one = worldOf(poolsOf('profile: gke\n').slice(0, 1));
  const [computed, plain, decisions, copies]: number[][] = [[], [], [], []];
  for (let run = 0; run < RUNS; run += 1) {
    computed?.push(timed(() => decide(followed, wanted(followed))));
    plain?.push(timed(() => decide(constant, wanted(constant))));
    const desired = wanted(one);
    decisions?.push(timed(() => decide(one, desired)));
    copies?.push(timed(() => structuredClone([...one.fleet.kubeletNodes.values()])));
  }
  // The first ones are those of a program that V8 has yet to get to know.
  const warm = (values: readonly number[] = []): readonly number[] => values.slice(5);
  const [subject, baseline] = [warm(computed), warm(plain)];
  const decision = {
    subject: warm(decisions),
    baseline: { what: 'structuredClone of the KubeletNodes', values: warm(copies) },
  };
  return [
    {
      what: `${NODES} nodes of ${TYPES} classes half-way through a commit: one decision`,
      unit: 'ms',
      ...decision,
      promise: atMostTimes(MOST_TIMES, decision),
    },
    {
      what: `${NODES} nodes of ${TYPES} types half-way through a commit, values computed: wanted and decided`,
      unit: 'ms',
      subject,
      baseline: { what: 'the same pools with constants', values: baseline },
    },
  ];
}

function poolsOf(computed: string | undefined): readonly ValidPool[] {
  const tree = Object.fromEntries(
    Array.from({ length: POOLS }, (_, index) => index).flatMap((index) => {
      const folder = `pools/p${index}`;
      const layers = computed === undefined ? '[plain.yaml]' : '[plain.yaml, computed.yaml]';
      const rollout = '{maxUnavailable: 20%, soak: 5m, canary: {nodes: 1}, steps: [{nodes: 50%}]}';
      return [
        [
          `${folder}/pool.yaml`,
          `${POOL.replace('pool: x', `pool: p${index}`)}  layers: ${layers}\n  rollout: ${rollout}\n`,
        ],
        [`${folder}/plain.yaml`, `${KUBELET}maxPods: ${110 + index}\nkubeReserved: {cpu: 100m, memory: 1Gi}\n`],
        ...(computed === undefined ? [] : [[`${folder}/computed.yaml`, COMPUTED + computed]]),
      ];
    }),
  ) as Readonly<Record<string, string>>;
  const { pools } = loadRepo(filesOf(tree), { cluster: 'bench' });
  return pools.filter((pool): pool is ValidPool => pool.status === 'valid');
}

interface World {
  readonly fleet: Fleet;
  readonly inForce: CommitInForce;
}

const wanted = ({ fleet, inForce }: World): Desired => desiredState(inForce, fleet, () => []);
const decide = ({ fleet }: World, desired: Desired): Plan =>
  plan(desired, fleet, SETTINGS, NOW, { ...NO_SIGNALS, records: writtenRecords(fleet.pools) });

/** A fleet of which half has the commit's config. */
function worldOf(pools: readonly ValidPool[]): World {
  const nodes = Array.from({ length: NODES }, (_, index) =>
    nodeView(`node-${index}`, `p${index % pools.length}`, {
      size: sizeOf(Math.floor(index / pools.length) % TYPES),
      createdAt: NOW - 86_400_000 - index * 1_000,
    }),
  );
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  const given = nodes.map((node) => {
    const pool = byName.get(node.labels['pool'] ?? '');
    const own = pool === undefined ? undefined : poolOfNode(pool, node).class.pool;
    if (own === undefined) throw new RangeError('a node without a config');
    return own;
  });
  const kubeletNodes = nodes.map((node, index) => {
    const own = given[index];
    if (own === undefined) throw new RangeError('a node without a config');
    const before = { ...own, sha256: `${own.sha256.slice(1)}0`, configName: `${own.name}-before` };
    const place = Math.floor(index / pools.length) / (NODES / pools.length);
    const known =
      place < 0.5 ? settledNode(node, own) : place < 0.6 ? assignedNode(node, own) : settledNode(node, before);
    const { sizes } = poolOfNode(own, node);
    return { ...known, metadata: { ...known.metadata, annotations: { [MACHINE_ANNOTATION]: sizes } } };
  });
  const fleet = fleetOf({
    nodes,
    kubeletNodes,
    configSources: [...new Map(given.map((pool) => [pool.configName, pool])).values()].map((pool) =>
      configSource(pool),
    ),
    pools: pools.map((pool) => poolInCluster(pool)),
  });
  const inForce = commit(COMMIT_B, ...pools);
  const { pools: statuses } = decide({ fleet, inForce }, wanted({ fleet, inForce }));
  const written = pools.map((pool) => poolInCluster(pool, statuses.get(pool.name)));
  return { fleet: { ...fleet, pools: new Map(written.map((pool) => [pool.metadata.name, pool])) }, inForce };
}

/** Each type has its own number of cores and its own memory, and each machine its own kibibytes of it; each Node its own object. */
function sizeOf(type: number): NodeSize {
  const capacity = {
    cpu: String(2 * (1 + (type % 8))),
    memory: `${(4 + type * 6) * 1024 * 1024 - 300_000 - type}Ki`,
    pods: '110',
    'ephemeral-storage': '100Gi',
  };
  return { kubeletVersion: 'v1.34.2', capacity, allocatable: capacity };
}
