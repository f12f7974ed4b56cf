import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plan } from '#reconciler/policy/plan.ts';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { JudgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { type Step, subjectOf } from '#reconciler/policy/steps.ts';
import type { ConfigSourceView, Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  idleNode,
  invalidPool,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../../support/fleet.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const accept: JudgePool = () => [];

const a = nodeView('a', 'workers', { createdAt: NOW - 3000 });
const b = nodeView('b', 'workers', { createdAt: NOW - 2000 });
const c = nodeView('c', 'workers', { createdAt: NOW - 1000 });
const old = validPool('workers', 110);
const next = validPool('workers', 120);
const NEXT = commit(COMMIT_B, next);
const two = { rollout: { ...poolSpec().rollout, maxUnavailable: 2 } };

/** What would be written, shortened to `step subject`; statuses of pools are left out. */
function steps(inForce: CommitInForce | null, fleet: Fleet, judge: JudgePool = accept): readonly string[] {
  const planned = plan(desiredState(inForce, fleet, judge), fleet, SETTINGS, NOW);
  return planned.steps.filter((step) => step.step !== 'write-pool-status').map(shorten);
}

function shorten(step: Step): string {
  const { node, pool, config } = subjectOf(step);
  const because = step.step === 'delete-config-source' ? step.because : undefined;
  const words = [step.step, node, config ?? (node === undefined ? pool : undefined), because];
  return words.filter((word) => word !== undefined).join(' ');
}

/** As the reconciler makes it: without a spec nothing is decided. */
function forgotten({ metadata, status = {} }: KubeletNode): KubeletNode {
  return { metadata, status };
}

const everySettled = fleetOf({
  nodes: [a, b, c],
  kubeletNodes: [a, b, c].map((node) => settledNode(node, old)),
  configSources: [configSource(old), configSource(next)],
  pools: [poolInCluster(old)],
});

function withNodes(fleet: Fleet, ...kubeletNodes: readonly KubeletNode[]): Fleet {
  return {
    ...fleet,
    kubeletNodes: new Map([...fleet.kubeletNodes, ...kubeletNodes.map((n) => [n.metadata.name, n] as const)]),
  };
}

/** The settled fleet, with another Node of its name. */
const seeing = (view: NodeView): Fleet => ({
  ...everySettled,
  nodes: new Map([...everySettled.nodes, [view.name, view]]),
});
/** The settled fleet, with these pools alone in the cluster. */
const pooled = (...pools: readonly KubeletPool[]): Fleet => ({
  ...everySettled,
  pools: new Map(pools.map((pool) => [pool.metadata.name, pool])),
});
const withSources = (fleet: Fleet, ...sources: readonly ConfigSourceView[]): Fleet => ({
  ...fleet,
  configSources: new Map(sources.map((source) => [source.name, source])),
});
/** Node a alone, in a cluster that has the old pool. */
const alone = (kubeletNode: KubeletNode, node = a, pool = old): Fleet =>
  fleetOf({
    nodes: [node],
    kubeletNodes: [kubeletNode],
    configSources: [configSource(old)],
    pools: [poolInCluster(pool)],
  });
const newest = validPool('workers', 130);
const [gpu, other] = [validPool('gpu', 50), validPool('other', 1)];
const twin = validPool('gpu', 50, { nodeSelector: { matchLabels: { pool: 'workers' } } });
const reporting = validPool('workers', 110, { drift: 'report' });
const quick = validPool('workers', 110, { trial: { duration: '1m', startTimeout: '30s', maxRestarts: 0 } });
const broken = commit(COMMIT_B, invalidPool('workers'));
const inTrial = withNodes(everySettled, assignedNode(a, next, { phase: 'Trial' }));
const ORDER = ['write-pool workers', `amend a ${old.configName}`];

const rows: readonly (readonly [string, CommitInForce | null, Fleet, readonly string[]])[] = [
  ['a fleet that is settled needs nothing', commit(COMMIT_B, old), everySettled, []],
  [
    'an empty cluster gets the pool, its config source and a KubeletNode for every Node',
    commit(COMMIT_A, old),
    fleetOf({ nodes: [a] }),
    [`create-config-source ${old.configName}`, 'create-node a', 'create-pool workers'],
  ],
  [
    'nobody is assigned before the config source is in the cluster',
    commit(COMMIT_A, old),
    withSources(alone(idleNode(a))),
    [`create-config-source ${old.configName}`],
  ],
  ['nobody is assigned where no agent has reported', commit(COMMIT_A, old), alone({ ...idleNode(a), status: {} }), []],
  [
    'nodes whose KubeletNodes were lost and made again are told again, all at once where they run it already',
    commit(COMMIT_B, old),
    withNodes(everySettled, ...[a, b].map((node) => forgotten(settledNode(node, old)))),
    [`assign a ${old.configName}`, `assign b ${old.configName}`],
  ],
  [
    'a node that runs something although no pool selects it and nobody remembers why gets its local config back',
    commit(COMMIT_B, old),
    withNodes(seeing({ ...a, labels: {} }), forgotten(settledNode(a, old))),
    ['unassign a local'],
  ],
  [
    'a new node that no pool selects is left alone',
    commit(COMMIT_B, old),
    alone(forgotten(idleNode(a)), { ...a, labels: {} }),
    [],
  ],
  ['the oldest node goes first, and one at a time', NEXT, everySettled, [`assign a ${next.configName}`]],
  [
    'maxUnavailable 2 lets two go',
    commit(COMMIT_B, validPool('workers', 120, two)),
    everySettled,
    [`assign a ${next.configName}`, `assign b ${next.configName}`, 'write-pool workers'],
  ],
  ['a node in trial holds the place of the next', NEXT, inTrial, []],
  [
    'a node that has not seen its assignment yet holds the place of the next',
    NEXT,
    withNodes(everySettled, { ...settledNode(a, next), metadata: { ...idleNode(a).metadata, generation: 2 } }),
    [],
  ],
  ['a node that is NotReady uses up the budget and is not touched', NEXT, seeing({ ...c, ready: false }), []],
  ['a node cordoned by somebody uses up the budget and is not touched', NEXT, seeing({ ...a, cordoned: true }), []],
  ['one failure halts the pool: nobody else sees it', NEXT, withNodes(everySettled, failedNode(a, next)), []],
  [
    'after a failure another payload goes out again, to the failed node first among equals',
    commit(COMMIT_B, old),
    withNodes(everySettled, failedNode(a, next)),
    [`assign a ${old.configName}`],
  ],
  [
    'a node in the middle of an outdated change is told the newest at once',
    commit(COMMIT_B, newest),
    withSources(inTrial, configSource(old), configSource(next), configSource(newest)),
    [`assign a ${newest.configName}`],
  ],
  ['a pool that is invalid in the commit keeps what it has', broken, everySettled, []],
  ['without git the cluster stays as it is', null, everySettled, []],
  ['without git, nodes keep their configs though our pools were lost', null, pooled(), []],
  [
    'and though they came back from a backup without their status, while nodes and pods stay as they are in a drain',
    null,
    {
      ...pooled({ ...poolInCluster(old), status: {} }),
      nodes: seeing({ ...a, cordoned: true, drain: { config: 'x', at: NOW } }).nodes,
    },
    [],
  ],
  [
    'and though the KubeletNodes were lost as well',
    null,
    {
      ...pooled(),
      kubeletNodes: new Map([a, b].map((node) => [node.name, forgotten(settledNode(node, old))])),
      nodes: new Map([a, b].map((node) => [node.name, node])),
    },
    [],
  ],
  [
    'nodes of a lost pool keep their configs, too, where the commit says something wrong about it',
    broken,
    pooled(),
    [],
  ],
  [
    'a pool that left git leaves no further while no commit is in force: only its KubeletPool says that it left',
    null,
    pooled({ ...poolInCluster(old), status: { phase: 'Progressing' } }),
    [],
  ],
  ['a KubeletPool assigns nothing while no commit is in force', null, pooled(poolInCluster(next)), []],
  [
    'nor is anything passed on to nodes that have its config already',
    null,
    pooled(poolInCluster({ ...old, spec: { ...old.spec, allowFields: ['port'] } })),
    [],
  ],
  ['nor does a pool with errors in git that only its KubeletPool knows', broken, pooled(poolInCluster(next)), []],
  [
    'a pool gone from git gives its nodes their local config back, within its budget',
    commit(COMMIT_B, other),
    withSources(pooled(poolInCluster(old), poolInCluster(other)), configSource(other), configSource(old)),
    ['unassign a local'],
  ],
  [
    'a pool gone from git is deleted when no node remembers it',
    commit(COMMIT_B),
    withSources(alone(idleNode(a))),
    ['delete-pool workers'],
  ],
  [
    'a node that changes its labels moves to the other pool within the budget of that pool',
    commit(COMMIT_B, old, gpu),
    {
      ...withSources(pooled(poolInCluster(old), poolInCluster(gpu)), configSource(old), configSource(gpu)),
      nodes: seeing({ ...a, labels: { pool: 'gpu' } }).nodes,
    },
    [`assign a ${gpu.configName}`],
  ],
  [
    'two pools of one priority leave the node as it is',
    commit(COMMIT_B, next, twin),
    pooled(poolInCluster(old), poolInCluster(twin)),
    [`create-config-source ${twin.configName}`],
  ],
  [
    'a node that opted out is left as it is',
    NEXT,
    withSources(
      alone(
        settledNode(a, old),
        nodeView('a', 'workers', { labels: { pool: 'workers', 'kubelet-gitops.dev/opt-out': 'true' } }),
      ),
      configSource(old),
      configSource(next),
    ),
    [],
  ],
  [
    'a tampered config source is deleted and made again, and nobody is sent to it meanwhile',
    NEXT,
    withSources(everySettled, configSource(old), configSource(next, { payload: 'x', sha256: 'x' })),
    [`delete-config-source ${next.configName} tampered`, `create-config-source ${next.configName}`],
  ],
  [
    'a config source that nobody refers to is pruned once it is old',
    commit(COMMIT_B, old),
    withSources(
      everySettled,
      configSource(old),
      configSource(next, { createdAt: NOW - 7_200_000 }),
      configSource(validPool('workers', 99), { createdAt: NOW - 60_000 }),
    ),
    [`delete-config-source ${next.configName} unused`],
  ],
  [
    'the KubeletNode of a Node that is gone goes too',
    commit(COMMIT_B, old),
    { ...everySettled, nodes: new Map([b, c].map((node) => [node.name, node])) },
    ['delete-node a'],
  ],
  [
    'a Node that was made again under its old name gets a new KubeletNode',
    commit(COMMIT_B, old),
    seeing({ ...a, uid: 'another' }),
    ['delete-node a'],
  ],
  ['other trial settings are told without an assignment', commit(COMMIT_B, quick), alone(settledNode(a, old)), ORDER],
  ['another way with drift is told likewise', commit(COMMIT_B, reporting), alone(settledNode(a, old)), ORDER],
  [
    'and so is the usual one, when it comes back',
    commit(COMMIT_B, old),
    alone(settledNode(a, reporting), a, reporting),
    ORDER,
  ],
];

describe('plan', () => {
  for (const [when, inForce, fleet, expected] of rows) {
    it(when, () => {
      assert.deepEqual([...steps(inForce, fleet)].sort(), [...expected].sort());
    });
  }

  it('keeps a payload that some kubelet of the pool would refuse out of the cluster', () => {
    const refuse: JudgePool = (pool, minors) =>
      minors.includes('1.34') ? [{ code: 'unknown-field', severity: 'error', message: `${pool.name}: no` }] : [];
    assert.deepEqual(steps(NEXT, everySettled, refuse), []);
  });

  it('speaks of drift in an assignment only where it is not the usual way', () => {
    for (const [pool, said] of [
      [next, undefined],
      [validPool('workers', 120, { drift: 'report' }), 'report'],
    ] as const) {
      const { steps: planned } = plan(
        desiredState(commit(COMMIT_B, pool), everySettled, accept),
        everySettled,
        SETTINGS,
        NOW,
      );
      const [assigned] = planned.flatMap((step) => (step.step === 'assign' ? [step.spec] : []));
      assert.equal(assigned?.configSource?.name, next.configName);
      assert.deepEqual(Object.hasOwn(assigned, 'drift') ? assigned.drift : undefined, said);
      assert.equal(Object.hasOwn(assigned, 'drift'), said !== undefined);
    }
  });

  it('says in the status of the pool why it is halted, and remembers it when the failed node is gone', () => {
    const fleet = withNodes(everySettled, failedNode(a, next));
    const halted = plan(desiredState(NEXT, fleet, accept), fleet, SETTINGS, NOW).pools.get('workers');
    assert.equal(halted?.phase, 'Halted');
    assert.match(halted?.message ?? '', /failed on a \(threshold 1\)/);

    const later = { ...everySettled, pools: new Map([['workers', poolInCluster(next, halted)]]) };
    assert.deepEqual(steps(NEXT, later), []);
  });
});
