import type { NodeView } from '#reconciler/policy/fleet.ts';
import { assignedNode, failedNode, idleNode, NOW, settledNode } from '../../../support/fleet.ts';

import {
  beside,
  describePlaces,
  drainedForIt,
  type Kind,
  many,
  MINUTE_LONG,
  NEXT,
  NONE,
  onTrial,
  PACED,
  past,
  TWO,
  type Row,
  SERVER,
} from './support/places.ts';

const failed = (node: NodeView) => failedNode(node, NEXT);
const proved = (node: NodeView) => settledNode(node, NEXT);
const drained = (count: number): Kind => ({ count, view: drainedForIt });
const JOINER = { joining: true, is: idleNode } as const;

const UNPROVEN: readonly Row[] = [
  [
    'as many as maxUnavailable says, with those that have yet to prove it',
    [3, beside(1, { is: (node) => assignedNode(node, NEXT), view: { uid: 'u' }, joining: true })],
    TWO,
    1,
    /allows 2 to try a config that is not proven yet; on trial: n1-0$/,
  ],
  ['not less those that have proven it', [3, beside(1, { is: proved })], TWO, 2],
  [
    'one, until that one has promoted it, where places are given back',
    [3, past()],
    PACED,
    0,
    /^maxOnTrial allows 1 on trial now; on trial: n1-0$/,
  ],
  [
    'half as many, because others took it back, where places are given back',
    [3, beside(1, { is: proved }), past(), beside(1, { is: failed })],
    many(4, MINUTE_LONG),
    1,
    /^maxOnTrial allows 2 on trial now, because n3-0 took it back; on trial: n2-0$/,
  ],
  [
    'two, once one has promoted it',
    [3, beside(1, { is: proved })],
    many(3, { ...MINUTE_LONG, maxOnTrial: 2 }),
    2,
    /^maxOnTrial allows 2 on trial now; on trial: $/,
  ],
  ['not less those whose Nodes are gone', [3, beside(1, { is: onTrial, gone: true })], TWO, 2],
  [
    'less those that were told it by another pool',
    [3, beside(1, { joining: true, is: (node) => ({ ...onTrial(node), spec: { ...onTrial(node).spec, pool: 'x' } }) })],
    TWO,
    1,
  ],
  [
    'however many have yet to prove it, once the pool settled on it',
    [2, beside(3, { is: onTrial, joining: true })],
    TWO,
    2,
    /^/,
    { proved: true },
  ],
];

const EXPOSED: readonly Row[] = [
  ['as many as maxUnavailable says', [3], TWO, 2, /on trial: $/],
  ['less those whose pods leave for it', [3, beside(1, { view: drainedForIt })], TWO, 1],
  [
    'not less those whose pods leave for another',
    [3, beside(1, { view: { cordoned: true, drain: { config: 'x', at: NOW } } })],
    TWO,
    2,
  ],
  ['not less those that somebody uncordoned', [3, beside(1, { view: { ...drainedForIt, cordoned: false } })], TWO, 2],
  ['those whose pods leave for it in any case', [drained(2), 2], TWO, 2],
  ['no more of those whose pods leave for it than may see it', [drained(3)], TWO, 2],
  ['and to as many others as are left', [drained(2), 2], many(3), 3],
  ['who was told it already', [{ count: 5, is: onTrial }], {}, 5],
  ['who was told it already, where places are given back', [{ count: 5, is: onTrial }], MINUTE_LONG, 5],
  [
    'no more of those that try it once more than may, where places are given back',
    [{ count: 2, is: failed, forgive: true }],
    PACED,
    1,
    /^maxOnTrial allows 1/,
  ],
  ['who tries it once more, where who took it back counts all along', [{ count: 2, is: failed, forgive: true }], {}, 2],
];

const JOINING: readonly Row[] = [
  ['ten of a few', [{ count: 12, ...JOINER }], {}, 10, /as many new nodes/],
  ['ten of twenty-one', [{ count: 21, ...JOINER }], {}, 10],
  ['half of many', [{ count: 22, ...JOINER }], {}, 11],
  ['less those that have begun', [{ count: 12, ...JOINER }, beside(2, { joining: true, is: onTrial })], {}, 8],
  ['not less old nodes in change', [{ count: 12, ...JOINER }, beside(2, { is: onTrial })], {}, 10],
  ['one of the control plane', [{ count: 3, ...JOINER, view: { labels: SERVER } }], {}, '1 control-plane'],
  [
    'one of the control plane beside one of the others',
    [
      { count: 1, ...JOINER },
      { count: 1, ...JOINER, view: { labels: SERVER } },
    ],
    {},
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
