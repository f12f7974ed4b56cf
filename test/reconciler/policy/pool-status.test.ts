import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommitInForce, type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Finding } from '#shared/contract/finding.ts';
import {
  assignedNode,
  commit,
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
const [a, b, c] = ['a', 'b', 'c'].map((name) => nodeView(name, 'workers')) as [
  ReturnType<typeof nodeView>,
  ReturnType<typeof nodeView>,
  ReturnType<typeof nodeView>,
];
const old = validPool('workers', 110);
const next = validPool('workers', 120);
const wide = { rollout: { ...poolSpec().rollout, maxUnavailable: 0 } };

function fleetWith(kubeletNodes: readonly KubeletNode[], pool = poolInCluster(old)): Fleet {
  return fleetOf({
    nodes: [a, b, c],
    kubeletNodes,
    configSources: [configSource(old), configSource(next)],
    pools: [pool],
  });
}

function statusOf(inForce: CommitInForce | null, fleet: Fleet): KubeletPoolStatus | undefined {
  return plan(
    desiredState(inForce, fleet, () => []),
    fleet,
    SETTINGS,
    NOW,
  ).pools.get('workers');
}

const settled = [a, b, c].map((node) => settledNode(node, old));
const drifted = settledNode(a, old, { phase: 'Drifted' });
const silent = settledNode(b, old, { heartbeat: '2026-01-01T00:00:00Z' });
const NONE = { nodes: 3, updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };

describe('the counts and the phase of a pool', () => {
  const rows: readonly (readonly [
    string,
    CommitInForce | null,
    () => Fleet,
    phase: string,
    Partial<KubeletPoolStatus['counts']>,
  ])[] = [
    ['of which every node runs its config', commit(COMMIT_B, old), () => fleetWith(settled), 'Settled', { updated: 3 }],
    [
      'on which somebody changed a file',
      commit(COMMIT_B, old),
      () => fleetWith([drifted, ...settled.slice(1)]),
      'Settled',
      { updated: 3, drifted: 1 },
    ],
    [
      'without nodes',
      commit(COMMIT_B, validPool('workers', 110, { nodeSelector: { matchLabels: { pool: 'x' } } })),
      () => fleetWith([]),
      'Empty',
      { nodes: 0 },
    ],
    ['that is about to change', commit(COMMIT_B, next), () => fleetWith(settled), 'Progressing', { pending: 3 }],
    [
      'that may not change',
      commit(COMMIT_B, validPool('workers', 120, wide)),
      () => fleetWith(settled),
      'Waiting',
      { pending: 3 },
    ],
    [
      'in the middle of a change',
      commit(COMMIT_B, validPool('workers', 120, wide)),
      () => fleetWith([assignedNode(a, next, { phase: 'Trial' }), ...settled.slice(1)]),
      'Progressing',
      { updating: 1, pending: 2 },
    ],
    [
      'of which a node is soaking',
      commit(COMMIT_B, validPool('workers', 120, { rollout: { ...wide.rollout, soak: '2h' } })),
      () => fleetWith([settledNode(a, next), ...settled.slice(1)]),
      'Progressing',
      { updated: 1, pending: 2 },
    ],
    [
      'of which a node failed',
      commit(COMMIT_B, next),
      () => fleetWith([failedNode(a, next), ...settled.slice(1)]),
      'Halted',
      { failed: 1, pending: 2 },
    ],
    [
      'of which agents are silent or were never there',
      commit(COMMIT_B, old),
      () => fleetWith([settledNode(a, old), silent]),
      'Waiting',
      { updated: 1, noAgent: 2 },
    ],
  ];
  for (const [name, inForce, fleet, phase, counts] of rows) {
    it(`${name}: ${phase}`, () => {
      const status = statusOf(inForce, fleet());
      assert.equal(status?.phase, phase);
      assert.deepEqual(status?.counts, { ...NONE, ...counts });
      const conditions = Object.fromEntries((status?.conditions ?? []).map((each) => [each.type, each.status]));
      assert.deepEqual(conditions, {
        Ready: phase === 'Settled' || phase === 'Empty' ? 'True' : 'False',
        Reconciling: phase === 'Progressing' ? 'True' : 'False',
        Stalled: phase === 'Halted' ? 'True' : 'False',
        ConfigValid: 'True',
      });
    });
  }
});

describe('the status of a pool', () => {
  it('names its commit and its config, and leaves out what is not so', () => {
    const status = statusOf(commit(COMMIT_B, old), fleetWith(settled));
    assert.deepEqual(
      [status?.commit, status?.configName, status?.sha256, status?.observedGeneration],
      [COMMIT_B, old.configName, old.sha256, 1],
    );
    assert.deepEqual(status?.failures, []);
    for (const key of ['halt', 'released', 'holds']) assert.ok(!(key in (status ?? {})), key);
    const fresh = statusOf(commit(COMMIT_B, old), { ...fleetWith(settled), pools: new Map() });
    assert.ok(fresh !== undefined && !('observedGeneration' in fresh));
  });

  it('has no config and no commit where the pool left git', () => {
    const status = statusOf(commit(COMMIT_B, validPool('other', 1)), fleetWith(settled));
    for (const key of ['commit', 'configName', 'sha256']) assert.ok(!(key in (status ?? {})), key);
    assert.equal(status?.conditions?.find(({ type }) => type === 'ConfigValid')?.reason, 'Retiring');
  });

  it('says that its config is refused where the commit is wrong about it, and keeps the one that it has', () => {
    const status = statusOf(commit(COMMIT_B, invalidPool('workers')), fleetWith(settled));
    const valid = status?.conditions?.find(({ type }) => type === 'ConfigValid');
    assert.deepEqual([valid?.status, valid?.reason, status?.configName], ['False', 'Refused', old.configName]);
    assert.equal(
      statusOf(commit(COMMIT_B, old), fleetWith(settled))?.conditions?.find(({ type }) => type === 'ConfigValid')
        ?.reason,
      'Accepted',
    );
  });

  it('has the first five findings, errors first, and how many more there are', () => {
    const finding = (code: string, severity: Finding['severity']): Finding => ({
      code,
      severity,
      message: 'm',
      file: 'f',
    });
    const message = (count: number): string => {
      const warnings = Array.from({ length: count }, (_, index) => finding(`w${index}`, 'warning'));
      const broken = { ...invalidPool('workers'), findings: [...warnings, finding('bad', 'error')] };
      const status = statusOf(commit(COMMIT_B, broken), fleetWith(settled));
      return status?.conditions?.find(({ type }) => type === 'ConfigValid')?.message ?? '';
    };
    assert.match(message(4), /^f: error bad/);
    assert.equal(message(4).split('\n').length, 5);
    assert.match(message(4), /warning w3: m$/);
    assert.equal(message(5).split('\n').length, 6);
    assert.match(message(6), /\b2 \w+$/);
  });

  it('has the failures of ten nodes, each with the rejection that it is about', () => {
    const nodes = Array.from({ length: 12 }, (_, index) => nodeView(`n${index}`, 'workers'));
    const fleet = {
      ...fleetWith(nodes.map((node) => failedNode(node, next))),
      nodes: new Map(nodes.map((n) => [n.name, n])),
    };
    const status = statusOf(commit(COMMIT_B, next), fleet);
    assert.equal(status?.failures?.length, 10);
    const at = '2026-11-21T12:00:00Z';
    const why = { reason: 'KubeletCrashLooping', message: 'exit-code 1' };
    assert.deepEqual(status?.failures?.[0], { node: 'n0', config: next.configName, ...why, at });
  });

  it('tells what a broken node says of itself, as it rejected nothing', () => {
    const error = { reason: 'KubeletBroken', message: 'nothing helps', at: '2026-11-21T11:00:00Z' };
    const broken = assignedNode(a, next, { phase: 'Broken', error });
    const status = statusOf(commit(COMMIT_B, next), fleetWith([broken, ...settled.slice(1)]));
    assert.deepEqual(status?.failures, [{ node: 'a', config: next.configName, ...error }]);
    const mute = assignedNode(a, next, { phase: 'Broken' });
    const [failure] = statusOf(commit(COMMIT_B, next), fleetWith([mute, ...settled.slice(1)]))?.failures ?? [];
    assert.deepEqual(failure, { node: 'a', config: next.configName, reason: 'Unknown', message: '', at: '' });
  });
});

describe('a pool that does not get what the newest commit wants of it', () => {
  const told = (fleet: Fleet, inForce: CommitInForce, refused?: string): readonly string[] => {
    const desired = { ...desiredState(inForce, fleet, () => []), ...(refused === undefined ? {} : { refused }) };
    const { conditions = [], ...status } = plan(desired, fleet, SETTINGS, NOW).pools.get('workers') ?? {};
    const of = (type: string): string => {
      const found = conditions.find((each) => each.type === type);
      return `${type}=${found?.status} ${found?.reason}: ${found?.message}`;
    };
    return [`${status.phase} ${status.message}`, of('Ready'), of('Reconciling'), of('Stalled')];
  };
  const running = `Settled 3 of 3 nodes run ${old.configName}`;

  it('is not Ready where the commit is wrong about it, and says where; that its nodes are well stays said', () => {
    const where = 'ConfigRefused: pools/workers/kubelet.yaml:3:1: error unknown-field: no such field';
    const [phase, ready, reconciling, stalled] = told(fleetWith(settled), commit(COMMIT_B, invalidPool('workers')));
    assert.deepEqual([phase, ready, stalled], [running, `Ready=False ${where}`, `Stalled=True ${where}`]);
    assert.match(reconciling ?? '', /^Reconciling=False ConfigRefused/);
  });

  it('is not Ready where the commit is refused as a whole', () => {
    const why = 'CommitRefused: the newest commit is refused: nobody trusts its signature';
    const [phase, ready, , stalled] = told(fleetWith(settled), commit(COMMIT_B, old), 'nobody trusts its signature');
    assert.deepEqual([phase, ready, stalled], [running, `Ready=False ${why}`, `Stalled=True ${why}`]);
  });

  it('says what failed first, where it is halted as well', () => {
    const halted = fleetWith([failedNode(a, next), ...settled.slice(1)]);
    assert.match(
      told(halted, commit(COMMIT_B, next), 'nobody trusts it')[3] ?? '',
      /^Stalled=True Halted: workers-\w+ failed on a/,
    );
  });

  it('is Ready with a warning', () => {
    const warned = { ...old, findings: [{ code: 'w', severity: 'warning', message: 'm' } as const] };
    assert.match(told(fleetWith(settled), commit(COMMIT_B, warned))[1] ?? '', /^Ready=True Settled/);
  });
});

describe('the writes of pools', () => {
  const planned = (inForce: CommitInForce | null, fleet: Fleet, known?: Desired['pools']) =>
    plan(
      desiredState(inForce, fleet, () => [], undefined, known),
      fleet,
      SETTINGS,
      NOW,
    ).steps;
  const writes = (...given: Parameters<typeof planned>): readonly string[] =>
    planned(...given)
      .map(({ step }) => step)
      .filter((step) => step.includes('pool'));

  it('are a status that is another than before, and none that is the same', () => {
    const fleet = fleetWith(settled);
    assert.deepEqual(writes(commit(COMMIT_B, old), fleet), ['write-pool-status']);
    const status = statusOf(commit(COMMIT_B, old), fleet);
    assert.deepEqual(writes(commit(COMMIT_B, old), fleetWith(settled, poolInCluster(old, status))), []);
  });

  it('are no status of a pool that is to be made, and none of one that goes', () => {
    assert.deepEqual(writes(commit(COMMIT_B, old), { ...fleetWith(settled), pools: new Map() }), ['create-pool']);
    const over = fleetOf({ nodes: [a], kubeletNodes: [idleNode(a)], pools: [poolInCluster(old)] });
    assert.deepEqual(writes(commit(COMMIT_B), over), ['delete-pool']);
    const goes = { step: 'delete-pool', pool: 'workers', uid: 'p-workers' };
    assert.deepEqual(planned(commit(COMMIT_B), over).at(-1), goes);
  });

  it('are no spec where the commit is wrong about it', () => {
    const other = poolInCluster(validPool('workers', 110, { priority: 7 }));
    assert.ok(!writes(commit(COMMIT_B, invalidPool('workers')), fleetWith(settled, other)).includes('write-pool'));
    assert.ok(writes(commit(COMMIT_B, old), fleetWith(settled, other)).includes('write-pool'));
    const { pools } = desiredState(commit(COMMIT_B, old), fleetWith(settled), () => []);
    const known = writes(commit(COMMIT_B, invalidPool('workers')), fleetWith(settled, other), pools);
    assert.ok(!known.includes('write-pool'), 'though a commit before was not');
  });
});

describe('a condition', () => {
  const ready = (status: KubeletPoolStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Ready');
  const past = '2026-01-01T00:00:00Z';
  const before = (status: 'True' | 'False') => {
    const now = statusOf(commit(COMMIT_B, old), fleetWith(settled));
    const conditions = now?.conditions?.map((each) => ({
      ...each,
      lastTransitionTime: past,
      ...(each.type === 'Ready' ? { status } : {}),
    }));
    return fleetWith(settled, poolInCluster(old, { ...now, conditions } as never));
  };

  it('keeps the time since when it is so, and has the present one where it was otherwise', () => {
    const found = (fleet: Fleet) => ready(statusOf(commit(COMMIT_B, old), fleet));
    assert.deepEqual([found(before('True'))?.lastTransitionTime, found(before('True'))?.observedGeneration], [past, 1]);
    const kept = statusOf(commit(COMMIT_B, old), before('False'))?.conditions ?? [];
    assert.deepEqual(
      kept.filter(({ lastTransitionTime }) => lastTransitionTime !== past).map(({ type }) => type),
      ['Ready'],
      'each condition has a time of its own',
    );
    assert.equal(found(before('False'))?.lastTransitionTime, '2026-11-21T12:00:00Z');
    assert.equal(found(fleetWith(settled))?.lastTransitionTime, '2026-11-21T12:00:00Z');
    const fresh = found({ ...fleetWith(settled), pools: new Map() });
    assert.ok(fresh !== undefined && !('observedGeneration' in fresh));
  });
});
