import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { targetsOf, withForgivenFailures } from '#reconciler/policy/rollout/targets.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Group, isUnavailable, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Halt, KubeletPoolStatus, Released } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  desiredPool,
  failedNode,
  idleNode,
  nodeView,
  NOW,
  settledNode,
  settledOn,
  validPool,
} from '../../../support/fleet.ts';

const MINUTE = 60_000;
const [OLD, NEXT, OTHER] = [validPool('workers', 110), validPool('workers', 120), validPool('gpu', 90)];
const FORMER = validPool('workers', 130);
const AT = toTimestamp(NOW);
const NEW: Partial<NodeView> = { createdAt: NOW - 15 * MINUTE };
/** It was told its first config so long after it was first seen. */
const toldAfter = (ms: number): Partial<NodeView> => ({
  firstSeen: NOW - 40 * MINUTE,
  assignedSince: NOW - 40 * MINUTE + ms,
});
const node = nodeView('a', 'workers');
const local = idleNode(node);
const onTrial = (pool: typeof OLD): KubeletNode =>
  assignedNode(node, pool, { phase: 'Trial', lastKnownGood: { name: 'local' } });
const toldNext = settledNode(node, OLD);

/** What the pool settled on, and how far it is with the next payload. */
const rolling = (...states: readonly ('done' | 'rolling')[]) => ({
  rollout: {
    configName: NEXT.configName,
    sha256: NEXT.sha256,
    startedAt: AT,
    waves: states.map((state, index) => ({ name: `step ${index}`, state, nodes: 1, updated: 0 })),
    ...(states.every((state) => state === 'done') ? { finishedAt: AT } : {}),
  },
});
const [ON_OLD, ON_NEXT] = [settledOn(OLD), settledOn(NEXT)];
const ON_NOTHING = { proof: writeProof([]) };
const HALF = { ...ON_OLD, ...rolling('done', 'rolling') } as KubeletPoolStatus;
const THROUGH = { ...ON_NEXT, ...rolling('done', 'done') } as KubeletPoolStatus;
const HALT: Halt = { config: NEXT.configName, sha256: NEXT.sha256, at: AT, message: '', action: 'halt' };
const REVERT: Halt = { ...HALT, action: 'revert' };

interface Case {
  /** undefined where the Node has no KubeletNode yet. */
  readonly is: KubeletNode | undefined;
  readonly view?: Partial<NodeView>;
  readonly pool?: KubeletPoolStatus;
  readonly halt?: Halt;
  /** The pool left git, or the node leaves the pool. */
  readonly leaving?: 'pool' | 'node';
}

function groupOf({ is, view = {}, leaving }: Case): Group {
  const given = desiredPool(NEXT);
  const pool = leaving === 'pool' ? ({ ...given, origin: 'retiring', config: null } as const) : given;
  const target = leaving === 'node' ? null : targetOf(pool);
  return { pool, members: [memberOf(nodeView('a', 'workers', view), is, target, 0, NOW)] };
}

/** As the leader decides that wrote this status. */
function targets(group: Group, status: KubeletPoolStatus | undefined, halt: Halt | null) {
  const proof = poolProof(group, { status, isOwn: true }, NOW);
  const all = [OLD, NEXT, OTHER, FORMER];
  const nameOf = ({ sha256 }: { readonly sha256: string }): string =>
    all.find((pool) => pool.sha256 === sha256)?.configName ?? '';
  return targetsOf({ ...group, proof }, halt, nameOf, NOW);
}

const CONFIG = ['config', NEXT, false] as const;
const LOCAL = ['local', null, false] as const;

const OLD_AT_ONCE = ['settled', OLD, true] as const;
const NEXT_AT_ONCE = ['settled', NEXT, true] as const;
const BEFORE = ['settled', OLD, false] as const;
/** Told as new nodes are, and later. */
const [FIRST, SERVED] = [toldAfter(15 * MINUTE), toldAfter(15 * MINUTE + 1)];
const AFTER_OTHER = assignedNode(node, NEXT, { lastKnownGood: { name: OTHER.configName, sha256: OTHER.sha256 } });
const withSpec = (of: KubeletNode, spec: KubeletNode['spec']): KubeletNode => ({
  ...of,
  spec: { ...of.spec, ...spec },
});

const ROWS: readonly (readonly [string, Case, readonly [string, typeof OLD | null, boolean]])[] = [
  ['that ran the config before', { is: settledNode(node, OLD), pool: ON_OLD }, CONFIG],
  ['of a pool that left git', { is: settledNode(node, OLD), leaving: 'pool' }, LOCAL],
  ['that leaves its pool', { is: settledNode(node, OLD), pool: ON_OLD, leaving: 'node' }, LOCAL],
  ['that is new, while waves are to come,', { is: local, view: NEW, pool: HALF }, OLD_AT_ONCE],
  ['that is new, when the waves are done,', { is: local, view: NEW, pool: THROUGH }, NEXT_AT_ONCE],
  [
    'that is new, when they are done and the pool halted,',
    { is: local, view: NEW, pool: THROUGH, halt: HALT },
    NEXT_AT_ONCE,
  ],
  ['that is new, where the pool settled on nothing,', { is: local, view: NEW }, ['config', NEXT, true]],
  [
    'that is new by its own clock alone',
    { is: local, view: { createdAt: NOW, firstSeen: NOW - 16 * MINUTE }, pool: THROUGH },
    CONFIG,
  ],
  [
    'that is no longer new and has no config',
    { is: local, view: { createdAt: NOW - 15 * MINUTE - 1 }, pool: HALF },
    BEFORE,
  ],
  ['that is no longer new, when the waves are done,', { is: local, pool: THROUGH }, CONFIG],
  [
    'that is new and has proven a config',
    { is: { ...local, status: { ...local.status, promotedAt: AT } }, view: NEW, pool: THROUGH },
    CONFIG,
  ],
  [
    'that is new and was told the config',
    { is: assignedNode(node, NEXT, { phase: 'Idle', rejected: [] }), view: NEW, pool: ON_OLD },
    CONFIG,
  ],
  [
    'that tries what the pool settled on, as its first one,',
    { is: onTrial(OLD), view: FIRST, pool: HALF },
    OLD_AT_ONCE,
  ],
  ['that tries what is through, as its first one,', { is: onTrial(NEXT), view: FIRST, pool: THROUGH }, NEXT_AT_ONCE],
  [
    'that tries what the pool settled on, as its first one, and served before,',
    { is: onTrial(OLD), view: SERVED, pool: HALF },
    BEFORE,
  ],
  [
    'that tries what is through, as its first one, and served before,',
    { is: onTrial(NEXT), view: SERVED, pool: THROUGH },
    ['settled', NEXT, false],
  ],
  [
    'that tries what the pool settled on, as its first one, and is new by what the API server says,',
    { is: onTrial(OLD), view: NEW, pool: HALF },
    OLD_AT_ONCE,
  ],
  [
    'that tries what the pool settled on, as its first one, since nobody knows when,',
    { is: onTrial(OLD), pool: HALF },
    BEFORE,
  ],
  ['that tries what is not through, as its first one,', { is: onTrial(NEXT), pool: HALF }, CONFIG],
  ['that tries what its pool wanted before, as its first one,', { is: onTrial(FORMER), pool: HALF }, CONFIG],
  [
    'that tries it with a turn that it was granted',
    { is: withSpec(onTrial(OLD), { turn: { seen: 's' } }), pool: HALF },
    CONFIG,
  ],
  [
    'that tries it after others',
    { is: assignedNode(node, OLD, { phase: 'Trial', promotedAt: AT }), pool: HALF },
    CONFIG,
  ],
  ['that tries it by the word of another pool', { is: withSpec(onTrial(OLD), { pool: 'gpu' }), pool: HALF }, CONFIG],
  ['that took it back as its first one', { is: failedNode(node, OLD), pool: HALF }, CONFIG],
  ['that comes from another pool with another config', { is: settledNode(node, OTHER), pool: HALF }, BEFORE],
  [
    'that comes from another pool with the next config',
    { is: withSpec(settledNode(node, NEXT), { pool: 'gpu' }), pool: HALF },
    CONFIG,
  ],
  ['that comes from another pool, when the waves are done,', { is: settledNode(node, OTHER), pool: THROUGH }, CONFIG],
  ['that has what is taken back', { is: failedNode(node, NEXT), pool: ON_OLD, halt: REVERT }, BEFORE],
  ['that has what is halted', { is: failedNode(node, NEXT), pool: ON_OLD, halt: HALT }, CONFIG],
  ['that was not told what is taken back', { is: toldNext, pool: ON_OLD, halt: REVERT }, BEFORE],
  ['of a pool that settled on what is taken back', { is: failedNode(node, NEXT), pool: ON_NEXT, halt: REVERT }, CONFIG],
  ['that ran its local config before what is taken back', { is: failedNode(node, NEXT), halt: REVERT }, LOCAL],
  ['that ran another config before what is taken back', { is: AFTER_OTHER, halt: REVERT }, ['settled', OTHER, false]],
  [
    'that has another config, where the pool settled on nothing,',
    { is: settledNode(node, OTHER), pool: ON_NOTHING, halt: REVERT },
    CONFIG,
  ],
  ['that has none, where the pool settled on nothing,', { is: local, halt: REVERT }, LOCAL],
  [
    'that never reported, where the pool settled on nothing,',
    { is: { metadata: local.metadata }, halt: REVERT },
    LOCAL,
  ],
  ['that nobody made an object for, where the pool settled on nothing,', { is: undefined, halt: REVERT }, LOCAL],
  [
    'that ran another config before what is taken back, where the pool settled on one,',
    { is: AFTER_OTHER, pool: ON_OLD, halt: REVERT },
    BEFORE,
  ],
  [
    'that comes back to its pool before it has left it',
    { is: { ...local, spec: { pool: 'workers' } }, pool: HALF },
    BEFORE,
  ],
];

describe('a node', () => {
  for (const [name, given, [aim, config, joining]] of ROWS) {
    const what =
      config === null ? 'its local config' : config === NEXT ? 'the next' : config === OLD ? 'the old' : 'the other';
    it(`${name} is to run ${what}${joining ? ' as a joining one' : ''}`, () => {
      const [found] = targets(groupOf(given), given.pool, given.halt ?? null);
      assert.deepEqual(
        [found?.targetKind, found?.configName, found?.member.joining],
        [aim, config?.configName ?? null, joining],
      );
      assert.deepEqual(found?.member.target, config && { sha256: config.sha256, apply: 'overlay' });
    });
  }
});

describe('a node that is to run what its pool settled on', () => {
  const settling = (soak: string, probation: string) => {
    const { rollout } = NEXT.spec;
    const pool = desiredPool({ ...NEXT, spec: { ...NEXT.spec, rollout: { ...rollout, soak, probation } } });
    const members = [memberOf(node, settledNode(node, OLD), targetOf(pool), 0, NOW)];
    const [found] = targets({ pool, members }, ON_OLD, REVERT);
    return found?.member.lifecycle;
  };

  it('soaks as long as the pool says, and is on trial by its probation', () => {
    assert.equal(settling('1h', 'full'), LIFECYCLE.settled);
    assert.equal(settling('61m', 'full'), LIFECYCLE.soakingInPlace);
    assert.equal(settling('61m', '2m'), LIFECYCLE.soaking);
  });
});

describe('a failure that a person forgave', () => {
  const released = (...failures: Released['failures']): Released => ({ sha256: NEXT.sha256, haltedAt: AT, failures });
  const ours = released({ node: 'a', at: AT });
  const told = failedNode(node, NEXT);

  const rows: readonly (readonly [string, Case, Released | null, boolean])[] = [
    ['counts no more', { is: told }, ours, true],
    ['was another one', { is: told }, released({ node: 'a', at: '2026-01-01T00:00:00Z' }), false],
    ['was of another node', { is: told }, released({ node: 'b', at: AT }), false],
    [
      'was told to the node already, so that this is the next one',
      { is: { ...told, spec: { ...told.spec, forgive: AT } } },
      ours,
      false,
    ],
    [
      'was before the node was told something else',
      { is: settledNode(node, OLD, { rejected: failedNode(node, NEXT).status?.rejected ?? [] }) },
      ours,
      false,
    ],
    ['is no failure', { is: settledNode(node, NEXT) }, released({ node: 'a', at: 'undefined' }), false],
    ['is of a node that nobody knows', { is: settledNode(node, NEXT) }, null, false],
  ];
  for (const [name, given, by, isForgiven] of rows) {
    it(name, () => {
      const before = groupOf(given);
      const { pool, members } = withForgivenFailures(before, by);
      assert.equal(pool, before.pool);
      const forgiven = before.members.map((each) => ({
        ...each,
        lifecycle: LIFECYCLE.outdated,
        forgive: true,
      }));
      assert.deepEqual(members, isForgiven ? forgiven : before.members);
    });
  }

  it('counts no more where the agent fell silent since, which cannot be told to try once more', () => {
    const silent = { ...told, status: { ...told.status, heartbeat: '2026-01-01T00:00:00Z' } };
    const before = groupOf({ is: silent });
    assert.deepEqual(
      before.members.map(({ failedAt }) => failedAt),
      [AT],
    );
    const [found] = withForgivenFailures(before, ours).members;
    assert.deepEqual([found?.lifecycle, found?.failedAt, found?.forgive], [LIFECYCLE.silent, undefined, false]);
  });

  it('leaves a node unavailable that is so for another reason', () => {
    const unavailable = (view: Partial<NodeView>, phase: 'Idle' | 'Trial' = 'Idle') => {
      const is = { ...told, status: { ...told.status, phase } };
      return withForgivenFailures(groupOf({ is, view }), ours).members.some(isUnavailable);
    };
    assert.deepEqual(
      [unavailable({}), unavailable({ ready: false }), unavailable({ cordoned: true }), unavailable({}, 'Trial')],
      [false, true, true, true],
    );
    const failed = groupOf({ is: told });
    assert.equal(withForgivenFailures(failed, null), failed);
  });
});
