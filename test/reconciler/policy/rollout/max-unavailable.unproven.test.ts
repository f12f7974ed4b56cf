import type { NodeView } from '#reconciler/policy/fleet.ts';
import { assignedNode, failedNode, idleNode, NOW, settledNode } from '../../../support/fleet.ts';

import {
  beside,
  describePlaces,
  drainedForIt,
  many,
  MINUTE_LONG,
  NEXT,
  NONE,
  onTrial,
  onTrialFor,
  type Row,
  SERVER,
} from './support/places.ts';

const UNPROVEN: readonly Row[] = [
  [
    'as many as maxUnavailable says, with those that have yet to prove it',
    {
      kinds: [{ count: 3 }, beside(1, { is: (node) => assignedNode(node, NEXT), view: { uid: 'u' }, joining: true })],
      rollout: many(2),
    },
    1,
    'budget',
    /allows 2 to try a config that is not proven yet; on trial: n1-0$/,
  ],
  [
    'not less those that have proven it',
    { kinds: [{ count: 3 }, beside(1, { is: (node) => settledNode(node, NEXT) })], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'one, until that one has promoted it, where places are given back',
    { kinds: [{ count: 3 }, beside(1, { is: onTrialFor(60) })], rollout: many(2, MINUTE_LONG) },
    0,
    'budget',
    /^maxOnTrial allows 1 on trial now; on trial: n1-0$/,
  ],
  [
    'half as many, because others took it back, where places are given back',
    {
      kinds: [
        { count: 3 },
        beside(1, { is: (node) => settledNode(node, NEXT) }),
        beside(1, { is: onTrialFor(60) }),
        beside(1, { is: (node) => failedNode(node, NEXT) }),
      ],
      rollout: many(4, MINUTE_LONG),
    },
    1,
    'budget',
    /^maxOnTrial allows 2 on trial now, because n3-0 took it back; on trial: n2-0$/,
  ],
  [
    'two, once one has promoted it',
    {
      kinds: [{ count: 3 }, beside(1, { is: (node) => settledNode(node, NEXT) })],
      rollout: many(3, { ...MINUTE_LONG, maxOnTrial: 2 }),
    },
    2,
    'budget',
    /^maxOnTrial allows 2 on trial now; on trial: $/,
  ],
  [
    'not less those whose Nodes are gone',
    { kinds: [{ count: 3 }, beside(1, { is: onTrial, gone: true })], rollout: many(2) },
    2,
    'budget',
  ],
  [
    'less those that were told it by another pool',
    {
      kinds: [
        { count: 3 },
        beside(1, { joining: true, is: (node) => ({ ...onTrial(node), spec: { ...onTrial(node).spec, pool: 'x' } }) }),
      ],
      rollout: many(2),
    },
    1,
    'budget',
  ],
  [
    'however many have yet to prove it, once the pool settled on it',
    { kinds: [{ count: 2 }, beside(3, { is: onTrial, joining: true })], rollout: many(2), proved: true },
    2,
  ],
];

const failed = (node: NodeView) => failedNode(node, NEXT);

const EXPOSED: readonly Row[] = [
  ['as many as maxUnavailable says', { kinds: [{ count: 3 }], rollout: many(2) }, 2, 'budget', /on trial: $/],
  [
    'less those whose pods leave for it',
    { kinds: [{ count: 3 }, beside(1, { view: drainedForIt })], rollout: many(2) },
    1,
    'budget',
  ],
  [
    'not less those whose pods leave for another',
    {
      kinds: [{ count: 3 }, beside(1, { view: { cordoned: true, drain: { config: 'x', at: NOW } } })],
      rollout: many(2),
    },
    2,
    'budget',
  ],
  [
    'not less those that somebody uncordoned',
    { kinds: [{ count: 3 }, beside(1, { view: { ...drainedForIt, cordoned: false } })], rollout: many(2) },
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
  [
    'who was told it already, where places are given back',
    { kinds: [{ count: 5, is: onTrial }], rollout: MINUTE_LONG },
    5,
  ],
  [
    'no more of those that try it once more than may, where places are given back',
    { kinds: [{ count: 2, is: failed, forgive: true }], rollout: many(2, MINUTE_LONG) },
    1,
    'budget',
    /^maxOnTrial allows 1/,
  ],
  [
    'who tries it once more, where who took it back counts all along',
    { kinds: [{ count: 2, is: failed, forgive: true }] },
    2,
  ],
];

const JOINING: readonly Row[] = [
  ['ten of a few', { kinds: [{ count: 12, joining: true, is: idleNode }] }, 10, 'budget', /as many new nodes/],
  ['ten of twenty-one', { kinds: [{ count: 21, joining: true, is: idleNode }] }, 10, 'budget'],
  ['half of many', { kinds: [{ count: 22, joining: true, is: idleNode }] }, 11, 'budget'],
  [
    'less those that have begun',
    { kinds: [{ count: 12, joining: true, is: idleNode }, beside(2, { joining: true, is: onTrial })] },
    8,
    'budget',
  ],
  [
    'not less old nodes in change',
    { kinds: [{ count: 12, joining: true, is: idleNode }, beside(2, { is: onTrial })] },
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

describePlaces(
  'a payload that is not proven is shown to',
  UNPROVEN,
  (budgets) => (member) => budgets.take(NONE, { member, targetKind: 'config' }),
);
describePlaces(
  'in the middle of a change, a payload is shown to',
  EXPOSED,
  (budgets) => (member) => budgets.expose(NONE, member),
);
describePlaces('of new nodes begin', JOINING, (budgets) => (member) => budgets.admit(NONE, member));
