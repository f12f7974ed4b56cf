import type { Failure } from '../failure.ts';
import {
  activeOf,
  type Config,
  type Doing,
  IDLE,
  rejectionOf,
  sameConfig,
  type State,
  withRejected,
} from '../state.ts';
import { DEFAULT_TERMS } from '../terms.ts';
import type { Reference } from './reference.ts';
import type { Failures } from './rejected-codec.ts';

/** A file's content, or that it was there and could not be believed. */
export type Found<T> = { readonly found: T } | { readonly damaged: string };

/** What the four files under `meta` hold. `doing` is null where there is no such file. */
export interface Records {
  readonly assigned: Found<Reference>;
  readonly lastKnownGood: Found<Reference>;
  readonly doing: Found<Doing | null>;
  readonly failures: Found<Failures>;
}

const RECORD_LOST: Failure = {
  reason: 'RecordLost',
  message: 'it failed on this node before; the note of why was damaged',
};

/**
 * The state that the files tell of, whatever is damaged among them. What one damaged file said follows from the others as
 * far as it can; where it cannot, the node is taken to run local, and the next assignment finds out by a trial.
 *
 * @param at RFC 3339
 */
export function restoreState(records: Records, at: string): State {
  const { assigned, lastKnownGood, doing, failures } = records;
  const state: State = {
    assigned: 'found' in assigned ? assigned.found.target : null,
    lastKnownGood: 'found' in lastKnownGood ? lastKnownGood.found.target : null,
    promotedAt: 'found' in lastKnownGood ? lastKnownGood.found.promotedAt : null,
    doing: IDLE,
    ...('found' in failures ? failures.found : { rejected: [], error: null }),
  };
  if ('damaged' in doing) return { ...state, doing: guessDoing(state, records, at) };
  if (doing.found !== null) return restoreMiddle({ ...state, doing: doing.found }, records, at);
  return restoreIdle(state, records, at);
}

/** What is assigned and neither on trial nor good was rejected, whether or not anybody knows why. */
function restoreMiddle(state: State, { failures }: Records, at: string): State {
  const { assigned, lastKnownGood } = state;
  if (assigned === null || 'found' in failures) return state;
  const isKnown = sameConfig(assigned, lastKnownGood) || sameConfig(assigned, activeOf(state));
  return isKnown ? state : withRejected(state, assigned, { ...RECORD_LOST, at });
}

/** An idle node runs lastKnownGood, and what is assigned is the same or was rejected. */
function restoreIdle(state: State, { assigned, lastKnownGood, failures }: Records, at: string): State {
  if ('damaged' in assigned) return { ...state, assigned: state.lastKnownGood };
  const config = state.assigned;
  if (config === null || sameConfig(config, state.lastKnownGood)) return state;
  if (rejectionOf(state, config) !== undefined) return state;
  // It is either good or rejected, and nobody knows which: so it is tried again where it is still wanted.
  if ('damaged' in lastKnownGood && 'damaged' in failures) return { ...state, assigned: null };
  if ('damaged' in lastKnownGood) return { ...state, lastKnownGood: config };
  return 'damaged' in failures ? withRejected(state, config, { ...RECORD_LOST, at }) : state;
}

/** The node was in the middle of something, and what is wanted tells what that must have been. */
function guessDoing(state: State, { assigned, failures }: Records, at: string): Doing {
  const config = state.assigned;
  if (config === null) {
    if ('found' in assigned) return fallingBackTo(null, 'unassigned');
    return state.lastKnownGood === null ? IDLE : fallingBackTo(state.lastKnownGood, 'failed');
  }
  if (sameConfig(config, state.lastKnownGood)) return fallingBackTo(config, 'superseded');
  // Where nobody knows whether it was refused, it has to be looked at again before the kubelet hears of it.
  const mayBeRejected = 'damaged' in failures || rejectionOf(state, config) !== undefined;
  if (mayBeRejected) return fallingBackTo(state.lastKnownGood, 'failed');
  return {
    phase: 'trial',
    config,
    since: at,
    wasReady: false,
    wasHealthy: true,
    before: null,
    warnings: [],
    change: { step: 'install' },
  };
}

const fallingBackTo = (to: Config | null, because: 'failed' | 'unassigned' | 'superseded'): Doing => ({
  phase: 'falling-back',
  to,
  because,
  terms: to?.trial ?? DEFAULT_TERMS,
  change: { step: 'install' },
});
