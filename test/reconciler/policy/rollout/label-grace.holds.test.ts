import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { MemberDecision } from '#reconciler/policy/rollout/decide-group.ts';
import {
  holdForLabelGrace,
  isInGrace,
  LABEL_GRACE_MS,
  rememberLabelLosses,
} from '#reconciler/policy/rollout/label-grace.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { untaintSteps } from '#reconciler/policy/untaint-steps.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  commit,
  COMMIT_B,
  desiredPool,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const [WORKERS, OTHERS] = [validPool('workers', 110), validPool('others', 120)];
const TWINS = { ...WORKERS, name: 'twins', spec: validPool('twins', 110).spec };
const LONG_AGO = NOW - LABEL_GRACE_MS;
const has = (node: NodeView): KubeletNode => settledNode(node, WORKERS);
const none = (node: NodeView): KubeletNode => idleNode(node);
const forgotten =
  (of: (node: NodeView) => KubeletNode) =>
  (node: NodeView): KubeletNode => {
    const { metadata, status = {} } = of(node);
    return { metadata, status };
  };
const mute = (node: NodeView): KubeletNode => ({ metadata: idleNode(node).metadata });
const leaving = (node: NodeView): KubeletNode => ({ ...has(node), spec: { pool: 'workers' } });

interface Kind {
  readonly count: number;
  readonly is?: (node: NodeView) => KubeletNode;
  readonly view?: Partial<NodeView>;
}

const lostBy = (by: 'labels' | 'commit', since = LONG_AGO): Partial<NodeView> => ({ unselected: { since, by } });
const movedTo = (to: string, by: 'labels' | 'commit' = 'labels'): Partial<NodeView> => ({
  poolChange: { to, since: LONG_AGO, by },
});

function fleetWith(kinds: readonly Kind[]) {
  const nodes = kinds.flatMap(({ count, view = {} }, kind) =>
    Array.from({ length: count }, (_, index) => nodeView(`n${kind}-${index}`, 'workers', view)),
  );
  const made = kinds.flatMap(({ count, is = has }) => Array.from({ length: count }, () => is));
  return fleetOf({ nodes, kubeletNodes: nodes.map((node, index) => (made[index] ?? has)(node)) });
}

/** Of so many nodes a fifth may be unassigned, and one at least: how many are held, and for what. */
const ROWS: readonly (readonly [string, readonly Kind[], held: number, reason?: string, isTold?: false])[] = [
  [
    'that lost their labels long ago, no more than may be, are let go',
    [{ count: 16 }, { count: 4, view: lostBy('labels') }],
    0,
  ],
  [
    'that lost them just now are held for a while',
    [{ count: 16 }, { count: 4, view: lostBy('labels', NOW) }],
    4,
    'unselected',
    false,
  ],
  [
    'that lost them are held where they are more than may be',
    [{ count: 15 }, { count: 5, view: lostBy('labels') }],
    5,
    'unselected',
  ],
  ['that a commit let go of are not held', [{ count: 15 }, { count: 5, view: lostBy('commit') }], 0],
  [
    'without a config are none of those of which a fifth may go',
    [{ count: 3 }, { count: 2, view: lostBy('labels') }, { count: 15, is: none }],
    2,
    'unselected',
  ],
  [
    'that lost their labels and have no config lose nothing',
    [{ count: 15 }, { count: 5, is: none, view: lostBy('labels') }],
    0,
  ],
  [
    'that run one which was forgotten have one to lose',
    [{ count: 15 }, { count: 5, is: forgotten(has), view: lostBy('labels') }],
    5,
    'unselected',
  ],
  [
    'that run their local config, forgotten, lose nothing',
    [{ count: 15 }, { count: 5, is: forgotten(none), view: lostBy('labels') }],
    0,
  ],
  ['that were told to leave lose nothing more', [{ count: 15 }, { count: 5, is: leaving, view: lostBy('labels') }], 0],
  ['that never reported lose nothing', [{ count: 15 }, { count: 5, is: mute, view: lostBy('labels') }], 0],
  [
    'that move to another config, no more than may be, are let go',
    [{ count: 16 }, { count: 4, view: movedTo('others') }],
    0,
  ],
  [
    'that move to another config are held where they are more',
    [{ count: 15 }, { count: 5, view: movedTo('others') }],
    5,
    'relabelled',
  ],
  ['that a commit moves are not held', [{ count: 15 }, { count: 5, view: movedTo('others', 'commit') }], 0],
  ['that move to the same config are not held', [{ count: 15 }, { count: 5, view: movedTo('twins') }], 0],
  ['that move and have no config are not held', [{ count: 15 }, { count: 5, is: none, view: movedTo('others') }], 0],
];

describe('nodes', () => {
  const inForce = commit(COMMIT_B, WORKERS, OTHERS, TWINS);
  const guard = (kinds: readonly Kind[]) => {
    const fleet = fleetWith(kinds);
    return holdForLabelGrace(
      desiredState(inForce, fleet, () => []),
      fleet,
      NOW,
    );
  };
  for (const [name, kinds, count, reason, isTold = reason !== undefined] of ROWS) {
    it(name, () => {
      const { holds, warning } = guard(kinds);
      assert.deepEqual([holds.size, [...holds.values()][0]?.hold], [count, reason]);
      assert.equal(warning !== null, isTold);
    });
  }

  it('of both kinds are told of together', () => {
    const { holds, warning } = guard([
      { count: 8 },
      { count: 5, view: lostBy('labels') },
      { count: 5, view: movedTo('others') },
    ]);
    const [lost, moved] = ['unselected', 'relabelled'].map((reason) =>
      [...holds.values()].find(({ hold }) => hold === reason),
    );
    assert.equal(warning, `${lost?.because}; ${moved?.because}`);
  });

  it('are in grace for ten minutes, by their labels alone', () => {
    const grace = [lostBy('labels', NOW), lostBy('labels'), lostBy('commit', NOW), {}].map((view) =>
      isInGrace(nodeView('a', '', view), NOW),
    );
    assert.deepEqual(grace, [true, false, false, false]);
  });

  it('have remembered since when they lost their labels only where anything depends on it', () => {
    const remembered = (is: (node: NodeView) => KubeletNode, view: Partial<NodeView>) =>
      rememberLabelLosses(fleetWith([{ count: 1, is, view }])).length;
    const lost = lostBy('labels');
    assert.deepEqual(
      [remembered(has, lost), remembered(none, lost), remembered(none, { ...lost, gated: true })],
      [1, 0, 1],
    );
  });
});

describe('the taint of a new node', () => {
  const pool = desiredPool(WORKERS);
  const bare: KubeletPoolStatus = {};
  const settledOn: KubeletPoolStatus = {
    settled: { configName: OTHERS.configName, sha256: OTHERS.sha256, apply: 'overlay', at: '' },
  };
  const rows: readonly (readonly [string, Partial<Member>, KubeletPoolStatus, boolean])[] = [
    ['goes when its config is proven', { lifecycle: LIFECYCLE.settled }, bare, true],
    ['goes while its config soaks', { lifecycle: LIFECYCLE.soaking }, bare, true],
    ['stays while it tries its config', { lifecycle: LIFECYCLE.changing }, bare, false],
    ['goes where it runs what its pool settled on', { lifecycle: LIFECYCLE.outdated }, settledOn, true],
    [
      'stays where it took the config back, though it runs what its pool settled on',
      { lifecycle: LIFECYCLE.failed },
      settledOn,
      false,
    ],
    ['stays where its pool has no status yet', { lifecycle: LIFECYCLE.outdated }, bare, false],
  ];
  for (const [name, is, status, goes] of rows) {
    it(name, () => {
      const node = nodeView('a', 'workers', { gated: true });
      const member = { ...memberOf(node, settledNode(node, OTHERS), targetOf(pool), 0, NOW), ...is };
      const decision: MemberDecision = {
        member,
        aimed: { member, targetKind: 'config', configName: null },
        verdict: { verdict: 'rest' },
      };
      const fleet = fleetOf({ nodes: [node], pools: [poolInCluster(WORKERS, status)] });
      const group = { pool, members: [member] };
      const proof = poolProof(group, { status, isOwn: true }, NOW);
      const groups = [{ group: { ...group, proof }, decisions: [decision] }];
      const steps = untaintSteps(
        groups,
        desiredState(commit(COMMIT_B, WORKERS), fleet, () => []),
        fleet,
        NOW,
      );
      assert.equal(steps.length, goes ? 1 : 0);
    });
  }
});
