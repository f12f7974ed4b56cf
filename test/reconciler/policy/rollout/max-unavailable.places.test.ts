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
  PACED,
  past,
  TWO,
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

const failed = (node: NodeView): KubeletNode => failedNode(node, NEXT);
const ILL = { ready: false };
const ill = (count: number): Kind => ({ count, view: ILL });
const AS_SERVER = { labels: SERVER };
const IN_A = { labels: { [ZONE]: 'a' } };

const TURNS: readonly Row[] = [
  ['as many as maxUnavailable says', [5], TWO, 2, /allows 2 unavailable nodes in this pool$/],
  ['a share of them, rounded down', [5], many('50%'), 2],
  ['all where all may', [5], many('100%'), 5],
  ['less those that are away anyway', [5, beside(1, { view: ILL })], TWO, 1, /already: n1-0$/],
  [
    'less those that failed, and those without an agent',
    [5, beside(1, { is: failed }), beside(1, { is: (node) => silent(settledNode(node, OLD)) })],
    many(3),
    1,
    /already: n1-0, n2-0$/,
  ],
  ['less those in change, who are not named', [5, beside(1, { is: onTrial })], TWO, 1, /in this pool$/],
  [
    'none where four are away, of whom three are named',
    [5, beside(4, { view: { cordoned: true } })],
    many(4),
    0,
    /n1-0, n1-1, n1-2 and 1 more$/,
  ],
  ['as many of those that are not Ready, besides', [ill(3)], TWO, 2],
  ['less those in change of those that are not Ready', [ill(3), beside(1, { is: onTrial })], TWO, 1],
  ['less those that soak, of those that are not Ready', [ill(3), beside(1, { is: soaking })], many(2, SOAKS), 1],
  ['one that is Ready after one that is not, which costs it nothing', [ill(1), 2], TWO, 2],
  ['not less those that join', [3, beside(2, { is: onTrial, joining: true })], TWO, 2],
  ['not less those that are past their probation', [3, beside(2, { is: onTrialFor(60) })], PACED, 2],
  ['less those that are not, or hold their places to the end', [3, beside(1, { is: onTrialFor(59) })], PACED, 1],
  [
    'less those that hold their places to the end, however long they have been healthy',
    [3, beside(1, { is: onTrialFor(600) })],
    TWO,
    1,
  ],
  ['less those past their probation that are cordoned', [3, past({ view: { cordoned: true } })], PACED, 1],
  ['less those past their probation that are not Ready any more', [3, past({ view: ILL })], PACED, 1],
  [
    'less those past their probation whose agent fell silent',
    [3, past({ is: (node) => silent(onTrialFor(60)(node)) })],
    PACED,
    1,
  ],
  [
    'not less those that soak after a probation',
    [3, beside(1, { is: soaking })],
    many(2, { ...SOAKS, ...MINUTE_LONG }),
    2,
  ],
  [
    'as many in a zone, with those past their probation',
    [{ count: 2, view: IN_A }, past({ view: IN_A })],
    many(6, { maxUnavailablePerZone: 1, ...MINUTE_LONG }),
    '1 zone-budget',
  ],
  [
    'as many as the cluster says, with those past their probation',
    [3, past()],
    many(4, MINUTE_LONG),
    '1 overall-budget',
    /^/,
    { bounds: [1] },
  ],
  [
    'none of the control plane where another is on trial, past its probation or not',
    [servers(1), past({ view: AS_SERVER })],
    many(3, MINUTE_LONG),
    '0 control-plane',
  ],
  [
    'one in each zone',
    [
      { count: 2, view: IN_A },
      { count: 2, view: { labels: { [ZONE]: 'b' } } },
      { count: 2, view: { labels: {} } },
    ],
    many(6, { maxUnavailablePerZone: 1 }),
    '3 zone-budget',
    /allows 1 in zone a/,
  ],
  [
    'one without a zone',
    [2],
    many(6, { maxUnavailablePerZone: 1 }),
    '1 zone-budget',
    /among nodes without a zone label/,
  ],
  ['as many as the cluster says', [5], many(4), '3 overall-budget', /allows 3 over all pools/, { bounds: [3] }],
  ['as many as the stricter of two bounds says', [5], many(4), '1 overall-budget', /^/, { bounds: [3, 1, null] }],
  ['one of the control plane', [servers(3)], many(3), '1 control-plane'],
  [
    'none of the control plane where another is away',
    [servers(2), beside(1, { view: { labels: SERVER, ready: false } })],
    many(3),
    '0 control-plane',
  ],
  [
    'one of the control plane that is away itself',
    [{ count: 1, view: { labels: SERVER, ready: false } }, servers(1)],
    many(3),
    '1 control-plane',
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
    [servers(1), beside(1, { view: AS_SERVER, is })],
    many(3, rollout),
    '0 control-plane',
  ]),
  [
    'none of the control plane where another is being drained',
    [servers(1), beside(1, { view: { labels: SERVER, cordoned: true, drain: { config: 'x', at: 0 } } })],
    many(3),
    '0 control-plane',
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
    [servers(1), beside(1, { view: AS_SERVER, is })],
    many(3),
    1,
  ]),
  ['one of the control plane beside one of the others', [1, servers(1)], many(3), 2],
  [
    'none of the control plane where one that nobody may touch is changing',
    [servers(1)],
    {},
    '0 control-plane',
    /^/,
    { untouchable: true },
  ],
  [
    'one of the control plane where one that nobody may touch is at rest',
    [servers(1)],
    {},
    1,
    /^/,
    { untouchable: false },
  ],
];

describePlaces(
  'a turn is given to',
  TURNS,
  (budgets) => (member) => budgets.take(NONE, { member, targetKind: 'settled' }),
);
