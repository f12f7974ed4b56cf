import type { State } from '../decide/state.ts';
import { encodeDoing } from './doing-codec.ts';
import { encodeObeyed } from './obeyed-codec.ts';
import { encodeReference } from './reference.ts';
import { encodeFailures, failuresOf } from './rejected-codec.ts';

/** The files under `meta` that a state is made of. */
export type RecordName = 'assigned' | 'last-known-good' | 'trial' | 'rejected' | 'order';

/**
 * The order in which a state's files are written. Why something failed comes before what follows from that. What the node
 * is in the middle of comes first when it begins, and goes last when it ends, so that a node that dies in between goes on
 * with it. The number of the order comes after all that it led to.
 */
export function writeOrder({ doing }: State): readonly RecordName[] {
  return doing.phase === 'idle'
    ? ['rejected', 'last-known-good', 'assigned', 'trial', 'order']
    : ['rejected', 'trial', 'last-known-good', 'assigned', 'order'];
}

/** What each of a state's files has to say, in the order in which they are written; null for no file. */
export const orderedRecords = (state: State, node: string): readonly (readonly [RecordName, string | null])[] =>
  writeOrder(state).map((name) => [name, textOf(name, state, node)]);

function textOf(name: RecordName, state: State, node: string): string | null {
  const { assigned, lastKnownGood, promotedAt, doing } = state;
  switch (name) {
    case 'assigned':
      return encodeReference({ target: assigned, promotedAt: null }, node);
    case 'last-known-good':
      return encodeReference({ target: lastKnownGood, promotedAt }, node);
    case 'trial':
      return encodeDoing(doing, node);
    case 'order':
      return encodeObeyed(state.obeyed, node);
    case 'rejected':
      return encodeFailures(failuresOf(state), node);
  }
}
