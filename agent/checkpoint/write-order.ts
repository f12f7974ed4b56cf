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
export type OrderedRecords = (state: State) => readonly (readonly [RecordName, string | null])[];

/** A state is asked for at every look and hardly ever changes: what did not is not put into words again. */
export function createOrderedRecords(): OrderedRecords {
  const known = new Map<RecordName, { readonly parts: readonly unknown[]; readonly text: string | null }>();
  const textNow = (name: RecordName, state: State): string | null => {
    const parts = partsOf(name, state);
    const before = known.get(name);
    if (before?.parts.every((part, index) => part === parts[index]) === true) return before.text;
    const text = textOf(name, state);
    known.set(name, { parts, text });
    return text;
  };
  return (state) => writeOrder(state).map((name) => [name, textNow(name, state)]);
}

/** All of a state that a file speaks of. */
function partsOf(name: RecordName, state: State): readonly unknown[] {
  switch (name) {
    case 'assigned':
      return [state.assigned];
    case 'last-known-good':
      return [state.lastKnownGood, state.promotedAt];
    case 'trial':
      return [state.doing];
    case 'order':
      return [state.obeyed];
    case 'rejected':
      return [
        state.rejected,
        state.error,
        state.refusedBase,
        state.unproved,
        state.lastKnownGood,
        state.assigned,
        state.doing.phase,
      ];
  }
}

function textOf(name: RecordName, state: State): string | null {
  const { assigned, lastKnownGood, promotedAt, doing } = state;
  switch (name) {
    case 'assigned':
      return encodeReference({ target: assigned, promotedAt: null });
    case 'last-known-good':
      return encodeReference({ target: lastKnownGood, promotedAt });
    case 'trial':
      return encodeDoing(doing);
    case 'order':
      return encodeObeyed(state.obeyed);
    case 'rejected':
      return encodeFailures(failuresOf(state));
  }
}
