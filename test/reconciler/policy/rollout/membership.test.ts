import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { isUnavailable, type Member, memberOf, membershipOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const MINUTE = 60_000;
const SILENT = '2026-01-01T00:00:00Z';
const [POOL, OLD] = [validPool('workers', 120), validPool('workers', 110)];
const TARGET = { sha256: POOL.sha256, apply: 'overlay' } as const;
const node = nodeView('a', 'workers');
const stray = nodeView('a', 'nobody');

const without = (key: 'pool' | 'spec', { spec, metadata, status = {} }: KubeletNode): KubeletNode => {
  const { pool: _, ...rest } = spec ?? {};
  return key === 'spec' ? { metadata, status } : { metadata, spec: rest, status };
};
const fallingBack = idleNode(stray, { phase: 'FallingBack' });
const FOR_LOCAL = { reason: 'StateLost', seen: 's', message: '' } as const;
const leftBehind: KubeletNode = { ...idleNode(stray), spec: { pool: 'lost' } };

interface Case {
  /** One that no pool selects, where it is absent. */
  readonly node?: NodeView;
  readonly is: KubeletNode;
  /** No commit is in force, and the cluster has the pool. */
  readonly unread?: true;
}

const ROWS: readonly (readonly [string, Case, string])[] = [
  ['selected by a pool belongs to it', { node, is: idleNode(node) }, 'workers'],
  [
    'selected by a pool belongs to it before any commit was read',
    { node, is: idleNode(node), unread: true },
    'workers',
  ],
  ['on its way out of a pool counts there', { is: settledNode(stray, OLD) }, 'workers'],
  ['that nobody selects, at rest with its local config, is free', { is: idleNode(stray) }, 'free'],
  [
    'that nobody selects and that runs something belongs to those that leave',
    { is: without('spec', settledNode(stray, OLD)) },
    'leaving',
  ],
  [
    'that nobody selects and that goes back to its local config belongs to those that leave',
    { is: fallingBack },
    'leaving',
  ],
  [
    'that nobody selects and that was told a config belongs to those that leave, though its agent is silent',
    { is: without('pool', settledNode(stray, OLD, { heartbeat: SILENT })) },
    'leaving',
  ],
  [
    'that nobody selects and that asks for a turn to go back to its local config belongs to those that leave',
    { is: { ...settledNode(stray, OLD, { awaitsTurn: FOR_LOCAL }), spec: {} } },
    'leaving',
  ],
  ['of a pool that is gone belongs to those that leave', { is: leftBehind }, 'leaving'],
  ['of a pool that nobody knows before any commit was read is let be', { is: leftBehind, unread: true }, 'unknown'],
  [
    'that runs something which nobody remembers is let be before any commit was read',
    { is: without('spec', settledNode(stray, OLD)), unread: true },
    'unknown',
  ],
];

describe('a node', () => {
  for (const [name, { node: view = stray, is, unread }, expected] of ROWS) {
    it(name, () => {
      const fleet = fleetOf({ nodes: [view], kubeletNodes: [is], pools: [poolInCluster(POOL)] });
      const desired = desiredState(unread === true ? null : commit(COMMIT_B, POOL), fleet, () => []);
      const { groups, skipped } = membershipOf(desired, fleet, NOW);
      const homes = groups.filter(({ members }) => members.length > 0).map(({ pool }) => pool?.name ?? 'leaving');
      const found = [...homes, ...skipped.map(({ choice }) => choice.choice)];
      assert.deepEqual(found, expected === 'free' ? [] : [expected]);
    });
  }
});

it('a node whose status may be from the past counts as unavailable: it may be in the middle of a change', () => {
  const at = (view: Partial<NodeView>): boolean =>
    isUnavailable(memberOf({ ...node, ...view }, settledNode(node, POOL), TARGET, 0, NOW));
  assert.deepEqual([at({}), at({ doubted: true })], [false, true]);
});

describe('how a node stands in a pool that soaks for ten minutes', () => {
  const RECENTLY = toTimestamp(NOW - 9 * MINUTE);
  const asks = { phase: 'Drifted', awaitsTurn: { reason: 'NewBase', seen: 's', message: '' } } as const;
  const rejected = assignedNode(node, POOL, {
    assigned: { ...TARGET, name: POOL.configName },
    rejected: [{ ...TARGET, name: POOL.configName, reason: 'CrashLoop', message: '', at: RECENTLY }],
  });
  const silent = (of: KubeletNode): KubeletNode => ({ ...of, status: { ...of.status, heartbeat: SILENT } });
  type Stand = Pick<Member, 'isAssigned' | 'failedAt'> & { readonly asks: boolean };
  const lately = settledNode(node, POOL, { promotedAt: RECENTLY });
  const rows: readonly (readonly [
    string,
    KubeletNode,
    keyof typeof LIFECYCLE,
    (Partial<Stand> | undefined)?,
    (typeof TARGET | null)?,
  ])[] = [
    ['soaks where it promoted the config lately', lately, 'soakingInPlace'],
    ['is settled where that was long ago', settledNode(node, POOL), 'settled'],
    [
      'does not soak with its local config, and was told nothing',
      idleNode(node, { promotedAt: RECENTLY }),
      'settled',
      { isAssigned: false },
      null,
    ],
    [
      'does not soak with what it proved lately where it was told something else since',
      { ...lately, spec: assignedNode(node, OLD).spec ?? {} },
      'superseded',
      { isAssigned: false },
    ],
    [
      'soaks before it asks for a restart',
      settledNode(node, POOL, { ...asks, promotedAt: RECENTLY }),
      'soakingInPlace',
    ],
    ['asks for a restart afterwards', settledNode(node, POOL, asks), 'awaitsTurn', { asks: true }],
    [
      'has no agent, whatever it asked for when it had one',
      settledNode(node, POOL, { ...asks, promotedAt: RECENTLY, heartbeat: SILENT }),
      'silent',
    ],
    ['has failed when it took the config back', rejected, 'failed', { failedAt: RECENTLY }],
    ['has failed, though its agent fell silent since', silent(rejected), 'silent', { failedAt: RECENTLY }],
    [
      'has not failed yet where it fell silent as it was told to try once more',
      silent({ ...rejected, spec: { ...rejected.spec, forgive: RECENTLY } }),
      'silent',
    ],
    [
      'is as if it had just begun where it has yet to hear of other terms',
      { ...rejected, status: { ...rejected.status, observedGeneration: 0 } },
      'changing',
    ],
    [
      'has not failed with the config before where it fell silent',
      silent({ ...rejected, spec: assignedNode(node, OLD).spec ?? {} }),
      'silent',
      { isAssigned: false },
    ],
  ];
  for (const [name, is, lifecycle, expected, target = TARGET] of rows) {
    it(name, () => {
      const member = memberOf(node, is, target, 10 * MINUTE, NOW);
      const { isAssigned, failedAt, forgive, joining } = member;
      const usual = { lifecycle: LIFECYCLE[lifecycle], isAssigned: true, failedAt: undefined, asks: false };
      const found = { lifecycle: member.lifecycle, isAssigned, failedAt, asks: member.turnRequest !== undefined };
      assert.deepEqual(found, { ...usual, ...expected });
      assert.deepEqual([forgive, joining], [false, false], 'others decide that');
    });
  }

  it('is towards no config where its pool has none', () => {
    assert.deepEqual([targetOf(undefined), targetOf(null)], [null, null]);
  });
});
