import type { State } from '../state.ts';
import { encodeDoing } from './doing-codec.ts';
import { encodeReference } from './reference.ts';
import { encodeFailures } from './rejected-codec.ts';

/** The files under `meta` that a state is made of. */
export type RecordName = 'assigned' | 'last-known-good' | 'trial' | 'rejected';

/**
 * The order in which a state's files are written. Why something failed comes before what follows from that. What the node
 * is in the middle of comes first when it begins, and goes last when it ends, so that a node that dies in between goes on
 * with it.
 */
export function recordOrder({ doing }: State): readonly RecordName[] {
  return doing.phase === 'idle'
    ? ['rejected', 'last-known-good', 'assigned', 'trial']
    : ['rejected', 'trial', 'last-known-good', 'assigned'];
}

/** What each of a state's files has to say, in the order in which they are written; null for no file. */
export function textsInOrder(state: State): readonly (readonly [RecordName, string | null])[] {
  return recordOrder(state).map((name) => [name, textOf(name, state)]);
}

function textOf(name: RecordName, { assigned, lastKnownGood, promotedAt, doing, rejected, error }: State) {
  switch (name) {
    case 'assigned':
      return encodeReference({ target: assigned, promotedAt: null });
    case 'last-known-good':
      return encodeReference({ target: lastKnownGood, promotedAt });
    case 'trial':
      return encodeDoing(doing);
    case 'rejected':
      return encodeFailures({ rejected, error });
  }
}
