import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { type Budgets, budgetsOf } from '#reconciler/policy/rollout/budget.ts';
import type { Hold } from '#reconciler/policy/rollout/holds/hold.ts';
import { type Member, memberOf, soakOf, targetOf, type Untouchable } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Amount, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  failedNode,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const SERVER = { pool: 'workers', 'node-role.kubernetes.io/control-plane': '' };
const ZONE = 'topology.kubernetes.io/zone';

/** Nodes of a kind: how many, and what is so of them. */
interface Kind {
  readonly count: number;
  readonly view?: Partial<NodeView>;
  readonly is?: (node: NodeView) => KubeletNode;
  readonly joining?: true;
  /** They are there, and nobody asks for a place for them. */
  readonly asks?: false;
  /** Their Nodes are gone, and only their KubeletNodes are left. */
  readonly gone?: true;
}

interface Case {
  readonly kinds: readonly Kind[];
  readonly rollout?: Partial<RolloutSpec>;
  readonly bounds?: readonly (Amount | null)[];
  /** Nodes of the control plane that nobody may touch, and whether they are changing. */
  readonly untouchable?: boolean;
  /** The pool has proved the payload already. */
  readonly proved?: true;
}

/** How many of the nodes that ask get a place, and what the first one that gets none is told. */
function places(
  { kinds, rollout, bounds = [null], untouchable, proved }: Case,
  ask: (budgets: Budgets) => (member: Member) => Hold | null,
) {
  const pool = validPool('workers', 120, { rollout: { ...poolSpec().rollout, ...rollout } });
  const desired = desiredState(commit(COMMIT_B, pool), fleetOf({}), () => []).pools.get('workers') ?? null;
  const all = kinds.flatMap(
    ({ count, view = {}, is = (node) => settledNode(node, OLD), joining = false, asks = true, gone }, kind) =>
      Array.from({ length: count }, (_, index) => {
        const node = nodeView(`n${kind}-${index}`, 'workers', view);
        const member: Member = { ...memberOf(node, is(node), targetOf(desired), soakOf(desired), NOW), joining };
        return { member, asks, isGone: gone === true };
      }),
  );
  const members = all.filter(({ isGone }) => !isGone).map(({ member }) => member);
  const at = { configName: NEXT.configName, sha256: NEXT.sha256, apply: 'overlay', at: '' } as const;
  const fleet = fleetOf({
    nodes: members.map(({ node }) => node),
    kubeletNodes: all.flatMap(({ member: { kubeletNode } }) => (kubeletNode === undefined ? [] : [kubeletNode])),
    pools: [poolInCluster(OLD, proved === true ? { settled: at } : {})],
  });
  const opted: readonly Untouchable[] =
    untouchable === undefined
      ? []
      : [{ node: nodeView('x', '', { labels: SERVER }), choice: { choice: 'opted-out' }, changing: untouchable }];
  const group = { pool: desired, members };
  const budgets = budgetsOf([group], opted, fleet, bounds);
  const answers = all
    .filter(({ asks }) => asks)
    .map(({ member }) =>
      ask({
        ...budgets,
        take: (_, aimed) => budgets.take(group, aimed),
        expose: (_, each) => budgets.expose(group, each),
        admit: (_, each) => budgets.admit(group, each),
      })(member),
    );
  const held = answers.find((answer) => answer !== null);
  return [answers.filter((answer) => answer === null).length, held?.hold, held?.because ?? ''] as const;
}

type Row = readonly [string, Case, given: number, hold?: string, because?: RegExp];
const many = (maxUnavailable: Amount): Partial<RolloutSpec> => ({ maxUnavailable });
const onTrial = (node: NodeView) => assignedNode(node, NEXT, { phase: 'Trial' });
const soaking = (node: NodeView) => settledNode(node, NEXT, { promotedAt: toTimestamp(NOW) });
const SOAKS = { soak: '10m' };
const drainedForIt = { cordoned: true, drain: { config: NEXT.configName, at: NOW } };
const NONE = { pool: null, members: [] };

const TURNS: readonly Row[] = [
  [
    'as many as maxUnavailable says',
    { kinds: [{ count: 5 }], rollout: many(2) },
    2,
    'budget',
    /allows 2 unavailable nodes in this pool$/,
  ],
  ['a share of them, rounded down', { kinds: [{ count: 5 }], rollout: many('50%') }, 2, 'budget'],
  ['all where all may', { kinds: [{ count: 5 }], rollout: many('100%') }, 5],
  [
    'less those that are away anyway',
    { kinds: [{ count: 5 }, { count: 1, view: { ready: false }, asks: false }], rollout: many(2) },
    1,
    'budget',
    /already: n1-0$/,
  ],
  [
    'less those that failed, and those without an agent',
    {
      kinds: [
        { count: 5 },
        { count: 1, is: (node) => failedNode(node, NEXT), asks: false },
        { count: 1, is: (node) => settledNode(node, OLD, { heartbeat: '2026-01-01T00:00:00Z' }), asks: false },
      ],
      rollout: many(3),
    },
    1,
    'budget',
    /already: n1-0, n2-0$/,
  ],
  [
    'less those in change, who are not named',
    { kinds: [{ count: 5 }, { count: 1, is: onTrial, asks: false }], rollout: many(2) },
    1,
    'budget',
    /in this pool$/,
  ],
  [
    'none where four are away, of whom three are named',
    { kinds: [{ count: 5 }, { count: 4, view: { cordoned: true }, asks: false }], rollout: many(4) },
    0,
    'budget',
    /n1-0, n1-1, n1-2 and 1 more$/,
  ],
  [
    'as many of those that are not Ready, besides',
    { kinds: [{ count: 3, view: { ready: false } }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'less those in change of those that are not Ready',
    {
      kinds: [
        { count: 3, view: { ready: false } },
        { count: 1, is: onTrial, asks: false },
      ],
      rollout: many(2),
    },
    1,
    'budget',
  ],
  [
    'less those that soak, of those that are not Ready',
    {
      kinds: [
        { count: 3, view: { ready: false } },
        { count: 1, is: soaking, asks: false },
      ],
      rollout: { ...many(2), ...SOAKS },
    },
    1,
    'budget',
  ],
  [
    'one that is Ready after one that is not, which costs it nothing',
    { kinds: [{ count: 1, view: { ready: false } }, { count: 2 }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'not less those that join',
    { kinds: [{ count: 3 }, { count: 2, is: onTrial, joining: true, asks: false }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'one in each zone',
    {
      kinds: [
        { count: 2, view: { labels: { [ZONE]: 'a' } } },
        { count: 2, view: { labels: { [ZONE]: 'b' } } },
        { count: 2, view: { labels: {} } },
      ],
      rollout: { ...many(6), maxUnavailablePerZone: 1 },
    },
    3,
    'zone-budget',
    /allows 1 in zone a/,
  ],
  [
    'one without a zone',
    { kinds: [{ count: 2 }], rollout: { ...many(6), maxUnavailablePerZone: 1 } },
    1,
    'zone-budget',
    /among nodes without a zone label/,
  ],
  [
    'as many as the cluster says',
    { kinds: [{ count: 5 }], rollout: many(4), bounds: [3] },
    3,
    'overall-budget',
    /allows 3 over all pools/,
  ],
  [
    'as many as the stricter of two bounds says',
    { kinds: [{ count: 5 }], rollout: many(4), bounds: [3, 1, null] },
    1,
    'overall-budget',
  ],
  [
    'one of the control plane',
    { kinds: [{ count: 3, view: { labels: SERVER } }], rollout: many(3) },
    1,
    'control-plane',
  ],
  [
    'none of the control plane where another is away',
    {
      kinds: [
        { count: 2, view: { labels: SERVER } },
        { count: 1, view: { labels: SERVER, ready: false }, asks: false },
      ],
      rollout: many(3),
    },
    0,
    'control-plane',
  ],
  [
    'one of the control plane that is away itself',
    {
      kinds: [
        { count: 1, view: { labels: SERVER, ready: false } },
        { count: 1, view: { labels: SERVER } },
      ],
      rollout: many(3),
    },
    1,
    'control-plane',
  ],
  ...(
    [
      ['is in change', onTrial, {}],
      ['soaks', soaking, SOAKS],
      ['failed', (node) => failedNode(node, NEXT), {}],
    ] as const satisfies readonly (readonly [string, Kind['is'], Partial<RolloutSpec>])[]
  ).map(([what, is, rollout]): Row => [
    `none of the control plane where another ${what}`,
    {
      kinds: [
        { count: 1, view: { labels: SERVER } },
        { count: 1, view: { labels: SERVER }, is, asks: false },
      ],
      rollout: { ...many(3), ...rollout },
    },
    0,
    'control-plane',
  ]),
  [
    'one of the control plane beside one of the others',
    { kinds: [{ count: 1 }, { count: 1, view: { labels: SERVER } }], rollout: many(3) },
    2,
  ],
  [
    'none of the control plane where one that nobody may touch is changing',
    { kinds: [{ count: 1, view: { labels: SERVER } }], untouchable: true },
    0,
    'control-plane',
  ],
  [
    'one of the control plane where one that nobody may touch is at rest',
    { kinds: [{ count: 1, view: { labels: SERVER } }], untouchable: false },
    1,
  ],
];

const UNPROVEN: readonly Row[] = [
  [
    'as many as maxUnavailable says, with those that have yet to prove it',
    {
      kinds: [
        { count: 3 },
        { count: 1, is: (node) => assignedNode(node, NEXT), view: { uid: 'u' }, joining: true, asks: false },
      ],
      rollout: many(2),
    },
    1,
    'budget',
    /allows 2 to try a config that is not proven yet; on trial: n1-0$/,
  ],
  [
    'not less those that have proved it',
    { kinds: [{ count: 3 }, { count: 1, is: (node) => settledNode(node, NEXT), asks: false }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'not less those whose Nodes are gone',
    { kinds: [{ count: 3 }, { count: 1, is: onTrial, gone: true, asks: false }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'not less those that were told it by another pool',
    {
      kinds: [
        { count: 3 },
        {
          count: 1,
          joining: true,
          asks: false,
          is: (node) => ({ ...onTrial(node), spec: { ...onTrial(node).spec, pool: 'x' } }),
        },
      ],
      rollout: many(2),
    },
    2,
    'budget',
  ],
  [
    'however many have yet to prove it, once the pool settled on it',
    { kinds: [{ count: 2 }, { count: 3, is: onTrial, joining: true, asks: false }], rollout: many(2), proved: true },
    2,
  ],
];

const EXPOSED: readonly Row[] = [
  ['as many as maxUnavailable says', { kinds: [{ count: 3 }], rollout: many(2) }, 2, 'budget', /on trial: $/],
  [
    'less those whose pods leave for it',
    { kinds: [{ count: 3 }, { count: 1, view: drainedForIt, asks: false }], rollout: many(2) },
    1,
    'budget',
  ],
  [
    'not less those whose pods leave for another',
    {
      kinds: [{ count: 3 }, { count: 1, view: { cordoned: true, drain: { config: 'x', at: NOW } }, asks: false }],
      rollout: many(2),
    },
    2,
    'budget',
  ],
  [
    'not less those that somebody uncordoned',
    { kinds: [{ count: 3 }, { count: 1, view: { ...drainedForIt, cordoned: false }, asks: false }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'those whose pods leave for it in any case',
    { kinds: [{ count: 2, view: drainedForIt }, { count: 2 }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'no more of those whose pods leave for it than may see it',
    { kinds: [{ count: 3, view: drainedForIt }], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'and to as many others as are left',
    { kinds: [{ count: 2, view: drainedForIt }, { count: 2 }], rollout: many(3) },
    3,
    'budget',
  ],
  ['who was told it already', { kinds: [{ count: 5, is: onTrial }] }, 5],
];

const JOINING: readonly Row[] = [
  ['ten of a few', { kinds: [{ count: 12, joining: true, is: idleNode }] }, 10, 'budget', /as many new nodes/],
  ['ten of twenty-one', { kinds: [{ count: 21, joining: true, is: idleNode }] }, 10, 'budget'],
  ['half of many', { kinds: [{ count: 22, joining: true, is: idleNode }] }, 11, 'budget'],
  [
    'less those that have begun',
    {
      kinds: [
        { count: 12, joining: true, is: idleNode },
        { count: 2, joining: true, is: onTrial, asks: false },
      ],
    },
    8,
    'budget',
  ],
  [
    'not less old nodes in change',
    {
      kinds: [
        { count: 12, joining: true, is: idleNode },
        { count: 2, is: onTrial, asks: false },
      ],
    },
    10,
    'budget',
  ],
  [
    'one of the control plane',
    { kinds: [{ count: 3, joining: true, is: idleNode, view: { labels: SERVER } }] },
    1,
    'control-plane',
  ],
  [
    'one of the control plane beside one of the others',
    {
      kinds: [
        { count: 1, joining: true, is: idleNode },
        { count: 1, joining: true, is: idleNode, view: { labels: SERVER } },
      ],
    },
    2,
  ],
];

const TABLES: readonly (readonly [string, readonly Row[], (budgets: Budgets) => (member: Member) => Hold | null])[] = [
  ['a turn is given to', TURNS, (budgets) => (member) => budgets.take(NONE, { member, aim: 'settled' })],
  [
    'a payload that is not proved is shown to',
    UNPROVEN,
    (budgets) => (member) => budgets.take(NONE, { member, aim: 'config' }),
  ],
  ['in the middle of a change, a payload is shown to', EXPOSED, (budgets) => (member) => budgets.expose(NONE, member)],
  ['of new nodes begin', JOINING, (budgets) => (member) => budgets.admit(NONE, member)],
];

for (const [title, rows, ask] of TABLES) {
  describe(title, () => {
    for (const [name, given, count, hold, because = /^/] of rows) {
      it(name, () => {
        const [got, reason, said] = places(given, ask);
        assert.deepEqual([got, reason], [count, hold]);
        assert.match(said, because);
      });
    }
  });
}
