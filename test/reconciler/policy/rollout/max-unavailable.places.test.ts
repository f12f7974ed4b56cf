import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { assignedNode, failedNode, idleNode, settledNode } from '../../../support/fleet.ts';

import {
  beside,
  describePlaces,
  type Kind,
  many,
  MINUTE_LONG,
  NEXT,
  NONE,
  OLD,
  onTrial,
  onTrialFor,
  type Row,
  SERVER,
  servers,
  soaking,
  SOAKS,
  ZONE,
} from './support/places.ts';

/** Its agent has yet to hear of anything else. */
const runsOld = (node: NodeView): KubeletNodeStatus => {
  const { assigned, active, lastKnownGood } = settledNode(node, OLD).status ?? {};
  return {
    observedGeneration: 0,
    ...(assigned && { assigned }),
    ...(active && { active }),
    ...(lastKnownGood && { lastKnownGood }),
  };
};
const told = (node: NodeView): KubeletNode => assignedNode(node, NEXT, runsOld(node));
/** Its agent lost its state, and what it runs. */
const asksAfterLoss = (node: NodeView): KubeletNode => {
  const { awaitsTurn, active } =
    idleNode(node, {
      awaitsTurn: { reason: 'StateLost', seen: 's', message: 'it lost its state' },
    }).status ?? {};
  return assignedNode(node, NEXT, { ...(awaitsTurn && { awaitsTurn }), ...(active && { active }) });
};
const silent = (node: KubeletNode): KubeletNode => ({
  ...node,
  status: { ...node.status, heartbeat: '2026-01-01T00:00:00Z' },
});

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
    { kinds: [{ count: 5 }, beside(1, { view: { ready: false } })], rollout: many(2) },
    1,
    'budget',
    /already: n1-0$/,
  ],
  [
    'less those that failed, and those without an agent',
    {
      kinds: [
        { count: 5 },
        beside(1, { is: (node) => failedNode(node, NEXT) }),
        beside(1, { is: (node) => settledNode(node, OLD, { heartbeat: '2026-01-01T00:00:00Z' }) }),
      ],
      rollout: many(3),
    },
    1,
    'budget',
    /already: n1-0, n2-0$/,
  ],
  [
    'less those in change, who are not named',
    { kinds: [{ count: 5 }, beside(1, { is: onTrial })], rollout: many(2) },
    1,
    'budget',
    /in this pool$/,
  ],
  [
    'none where four are away, of whom three are named',
    { kinds: [{ count: 5 }, beside(4, { view: { cordoned: true } })], rollout: many(4) },
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
    { kinds: [{ count: 3, view: { ready: false } }, beside(1, { is: onTrial })], rollout: many(2) },
    1,
    'budget',
  ],
  [
    'less those that soak, of those that are not Ready',
    { kinds: [{ count: 3, view: { ready: false } }, beside(1, { is: soaking })], rollout: many(2, SOAKS) },
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
    { kinds: [{ count: 3 }, beside(2, { is: onTrial, joining: true })], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'not less those that are past their probation',
    { kinds: [{ count: 3 }, beside(2, { is: onTrialFor(60) })], rollout: many(2, MINUTE_LONG) },
    2,
    'budget',
  ],
  [
    'less those that are not, or hold their places to the end',
    { kinds: [{ count: 3 }, beside(1, { is: onTrialFor(59) })], rollout: many(2, MINUTE_LONG) },
    1,
    'budget',
  ],
  [
    'less those that hold their places to the end, however long they have been healthy',
    { kinds: [{ count: 3 }, beside(1, { is: onTrialFor(600) })], rollout: many(2) },
    1,
    'budget',
  ],
  [
    'less those past their probation that are cordoned',
    {
      kinds: [{ count: 3 }, beside(1, { is: onTrialFor(60), view: { cordoned: true } })],
      rollout: many(2, MINUTE_LONG),
    },
    1,
    'budget',
  ],
  [
    'less those past their probation that are not Ready any more',
    { kinds: [{ count: 3 }, beside(1, { is: onTrialFor(60), view: { ready: false } })], rollout: many(2, MINUTE_LONG) },
    1,
    'budget',
  ],
  [
    'less those past their probation whose agent fell silent',
    {
      kinds: [
        { count: 3 },
        beside(1, {
          is: (node) => {
            const told = onTrialFor(60)(node);
            return { ...told, status: { ...told.status, heartbeat: '2026-01-01T00:00:00Z' } };
          },
        }),
      ],
      rollout: many(2, MINUTE_LONG),
    },
    1,
    'budget',
  ],
  [
    'not less those that soak after a probation',
    { kinds: [{ count: 3 }, beside(1, { is: soaking })], rollout: many(2, { ...SOAKS, ...MINUTE_LONG }) },
    2,
    'budget',
  ],
  [
    'as many in a zone, with those past their probation',
    {
      kinds: [
        { count: 2, view: { labels: { [ZONE]: 'a' } } },
        beside(1, { view: { labels: { [ZONE]: 'a' } }, is: onTrialFor(60) }),
      ],
      rollout: many(6, { maxUnavailablePerZone: 1, ...MINUTE_LONG }),
    },
    1,
    'zone-budget',
  ],
  [
    'as many as the cluster says, with those past their probation',
    { kinds: [{ count: 3 }, beside(1, { is: onTrialFor(60) })], rollout: many(4, MINUTE_LONG), bounds: [1] },
    1,
    'overall-budget',
  ],
  [
    'none of the control plane where another is on trial, past its probation or not',
    { kinds: [servers(1), beside(1, { view: { labels: SERVER }, is: onTrialFor(60) })], rollout: many(3, MINUTE_LONG) },
    0,
    'control-plane',
  ],
  [
    'one in each zone',
    {
      kinds: [
        { count: 2, view: { labels: { [ZONE]: 'a' } } },
        { count: 2, view: { labels: { [ZONE]: 'b' } } },
        { count: 2, view: { labels: {} } },
      ],
      rollout: many(6, { maxUnavailablePerZone: 1 }),
    },
    3,
    'zone-budget',
    /allows 1 in zone a/,
  ],
  [
    'one without a zone',
    { kinds: [{ count: 2 }], rollout: many(6, { maxUnavailablePerZone: 1 }) },
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
  ['one of the control plane', { kinds: [servers(3)], rollout: many(3) }, 1, 'control-plane'],
  [
    'none of the control plane where another is away',
    { kinds: [servers(2), beside(1, { view: { labels: SERVER, ready: false } })], rollout: many(3) },
    0,
    'control-plane',
  ],
  [
    'one of the control plane that is away itself',
    { kinds: [{ count: 1, view: { labels: SERVER, ready: false } }, servers(1)], rollout: many(3) },
    1,
    'control-plane',
  ],
  ...(
    [
      ['is in change', onTrial, {}],
      ['is silent, and was told what it has yet to run', (node) => silent(told(node)), {}],
      [
        'is silent, and was told once more what it took back before another',
        (node) => silent({ ...failedNode(node, NEXT), status: { ...failedNode(node, NEXT).status, ...runsOld(node) } }),
        {},
      ],
      ['soaks', soaking, SOAKS],
      ['failed', (node) => failedNode(node, NEXT), {}],
    ] as const satisfies readonly (readonly [string, Kind['is'], Partial<RolloutSpec>])[]
  ).map(([what, is, rollout]): Row => [
    `none of the control plane where another ${what}`,
    { kinds: [servers(1), beside(1, { view: { labels: SERVER }, is })], rollout: many(3, rollout) },
    0,
    'control-plane',
  ]),
  [
    'none of the control plane where another is being drained',
    {
      kinds: [servers(1), beside(1, { view: { labels: SERVER, cordoned: true, drain: { config: 'x', at: 0 } } })],
      rollout: many(3),
    },
    0,
    'control-plane',
  ],
  ...(
    [
      ['runs what it was told', (node) => silent(settledNode(node, NEXT))],
      ['took it back', (node) => silent(failedNode(node, NEXT))],
      ['was never told anything', (node) => silent(idleNode(node))],
      [
        'has a new KubeletNode',
        (node) => silent({ ...settledNode(node, OLD), spec: undefined } as unknown as KubeletNode),
      ],
      ['waits for its turn', (node) => silent(asksAfterLoss(node))],
    ] as const satisfies readonly (readonly [string, Kind['is']])[]
  ).map(([what, is]): Row => [
    `one of the control plane where another that is silent ${what}`,
    { kinds: [servers(1), beside(1, { view: { labels: SERVER }, is })], rollout: many(3) },
    1,
  ]),
  ['one of the control plane beside one of the others', { kinds: [{ count: 1 }, servers(1)], rollout: many(3) }, 2],
  [
    'none of the control plane where one that nobody may touch is changing',
    { kinds: [servers(1)], untouchable: true },
    0,
    'control-plane',
  ],
  [
    'one of the control plane where one that nobody may touch is at rest',
    { kinds: [servers(1)], untouchable: false },
    1,
  ],
];

describePlaces(
  'a turn is given to',
  TURNS,
  (budgets) => (member) => budgets.take(NONE, { member, targetKind: 'settled' }),
);
