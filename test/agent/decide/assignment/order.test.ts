import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { orderIn } from '#agent/decide/assignment/order.ts';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { turnNeeded } from '#agent/decide/restart-turn.ts';
import { INITIAL_STATE, nameOf, type State, type Target } from '#agent/decide/state.ts';
import { ready, refused } from '../../../support/agent/decision-table.ts';
import { A, B, idle, judging, onTrial, rejecting, seen, wanting } from '../../../support/agent/states.ts';

const UID = 'uid-of-the-knode';
const obeying = (state: State, order = 6): State => ({ ...state, obeyed: { uid: UID, order } });
const under = (number: number, uid = UID): Partial<Observation> => ({ order: { uid, number } });
const granted = (config: NonNullable<Target>): Partial<Observation> => ({
  intent: { intent: 'config', config, turn: 'f00d' },
});
const onB = obeying(idle(B));

interface Outcome {
  /** What is done first, but for what is done at every start; none for nothing. */
  readonly first?: string;
  readonly assigned: Target;
  readonly obeyed: number | undefined;
  /** The payload that a turn is asked for, `local`, or none. */
  readonly asks?: string;
}

function outcome(state: State, observation: Observation): Outcome {
  const { next, actions } = decide(state, observation);
  const asked = turnNeeded(next, observation);
  const asks = asked === null ? undefined : (asked.config ?? nameOf(null));
  const first = actions[0]?.do;
  const { assigned, obeyed } = next;
  return { ...(first && { first }), assigned, obeyed: obeyed?.order, ...(asks && { asks }) };
}

const kept = { assigned: B, obeyed: 6 };
const ROWS: readonly (readonly [what: string, state: State, seen: Observation, Outcome])[] = [
  ['another config under a lower number', onB, seen(wanting(A), under(5)), { ...kept, asks: A.source.sha256 }],
  ['another config under the same number', onB, seen(wanting(A), under(6)), { ...kept, asks: A.source.sha256 }],
  ['another config without a number', onB, seen(wanting(A), under(0)), { ...kept, asks: A.source.sha256 }],
  ['another config under a higher number', onB, seen(wanting(A), under(7)), { ...kept, first: 'stage' }],
  ['no config under a lower number', onB, seen(wanting(null), under(5)), { ...kept, asks: 'local' }],
  [
    'no config without a number, as before the first order',
    onB,
    seen(wanting(null), under(0)),
    { ...kept, asks: 'local' },
  ],
  [
    'no config under a higher number',
    onB,
    seen(wanting(null), under(7)),
    { first: 'install', assigned: null, obeyed: 7 },
  ],
  [
    'no config under the same number, where the agent lost what was assigned',
    obeying({ ...idle(B), assigned: null }),
    seen(wanting(null), under(6)),
    { assigned: null, obeyed: 6, asks: 'local' },
  ],
  ['no spec at all', onB, seen(under(0)), kept],
  [
    'another config of a KubeletNode that was made again',
    onB,
    seen(wanting(A), under(99, 'new')),
    { ...kept, obeyed: 99, asks: A.source.sha256 },
  ],
  ['a KubeletNode that was made again and wants nothing yet', onB, seen(under(0, 'new')), kept],
  ['the same config under a lower number', onB, seen(wanting(B), under(5)), kept],
  ['the same config under a higher number', onB, seen(wanting(B), under(7)), { ...kept, obeyed: 7 }],
  ['the one before, in the middle of a trial', obeying(onTrial(judging())), seen(wanting(A), under(5)), kept],
  ['the one that runs, where the last one was refused', obeying(rejecting(A)), seen(wanting(A), under(5)), kept],
  [
    'another config that is ready, under a higher number',
    obeying(idle(A)),
    seen(wanting(B), under(7), { staged: ready }),
    { first: 'install', assigned: B, obeyed: 7 },
  ],
  [
    'another config that is refused, under a higher number',
    obeying(idle(A)),
    seen(wanting(B), under(7), { staged: refused }),
    { assigned: B, obeyed: 7 },
  ],
  [
    'another config under a lower number, with a turn',
    obeying(idle(A)),
    seen(granted(B), under(5), { staged: ready }),
    { assigned: A, obeyed: 6, asks: B.source.sha256 },
  ],
  [
    'another config under a higher number, with its turn',
    obeying(idle(A)),
    seen(granted(B), under(7), { staged: ready }),
    { first: 'install', assigned: B, obeyed: 7 },
  ],
  [
    'another config without a number, where none ever had one',
    idle(B),
    seen(wanting(A), under(0)),
    { first: 'stage', assigned: B, obeyed: undefined },
  ],
  ['a first config', INITIAL_STATE, seen(wanting(B), under(1)), { first: 'stage', assigned: null, obeyed: undefined }],
  [
    'no config, of nobody: the node is to be given up',
    onB,
    seen(wanting(null), { leaving: 'asked' }),
    { first: 'install', assigned: null, obeyed: 6 },
  ],
];

describe('an agent that obeyed order 6 hears of', () => {
  for (const [what, state, observation, expected] of ROWS) {
    it(what, () => assert.deepEqual(outcome(state, observation), expected));
  }

  it('the next order of a KubeletNode that was made again', () => {
    const { next } = decide(onB, seen(wanting(A), under(99, 'new')));
    assert.deepEqual(next.obeyed, { uid: 'new', order: 99 });
    assert.equal(outcome(next, seen(wanting(A), under(100, 'new'))).first, 'stage');
  });

  it('other terms of the same config under a lower number', () => {
    const terms = { ...B, drift: 'report' as const };
    assert.equal(decide(onB, seen(wanting(terms), under(5))).next.lastKnownGood?.drift, 'report');
  });
});

describe('the order in a KubeletNode', () => {
  const metadata = { name: 'node-1', uid: UID };
  const ORDERS: readonly (readonly [string, Parameters<typeof orderIn>[0], number | undefined])[] = [
    ['is none without a KubeletNode', null, undefined],
    ['is none without a uid', { metadata: { name: 'node-1' }, spec: { order: 7 } }, undefined],
    ['has no number before the first one', { metadata }, 0],
    ['has its number', { metadata, spec: { order: 7 } }, 7],
    ['has no number where that cannot be read', { metadata, spec: { order: '7' as unknown as number } }, 0],
    ['has no number where that is beyond all numbers', { metadata, spec: { order: 2 ** 63 } }, 0],
  ];
  for (const [what, node, number] of ORDERS) {
    it(what, () => assert.deepEqual(orderIn(node), number === undefined ? undefined : { uid: UID, number }));
  }
});
