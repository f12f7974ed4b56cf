import type { Failure } from '../decide/failure.ts';
import {
  activeOf,
  type Config,
  type Doing,
  IDLE,
  type Obeyed,
  rejectionOf,
  sameConfig,
  type State,
  withRejected,
} from '../decide/state.ts';
import { DEFAULT_TERMS } from '../decide/assignment/terms.ts';
import type { Reference } from './reference.ts';
import type { Failures } from './rejected-codec.ts';

/** A file's content, or that it was there and could not be believed. */
export type RecordFound<T> = { readonly found: T } | { readonly damaged: string };

/** The content of the files under `meta`. `doing` and `failures` are null if their files are missing. */
export interface Records {
  readonly assigned: RecordFound<Reference>;
  readonly lastKnownGood: RecordFound<Reference>;
  readonly doing: RecordFound<Doing | null>;
  readonly failures: RecordFound<Failures | null>;
  readonly obeyed: RecordFound<Obeyed | undefined>;
}

const RECORD_LOST: Failure = {
  reason: 'RecordLost',
  message: 'it failed on this node before; the note of why was damaged',
};

/**
 * The state that the files record, whatever is damaged among them. What one damaged file said follows from the others as
 * far as possible; otherwise the node is taken to run local, and the next assignment finds out by a trial.
 *
 * @param at RFC 3339
 */
export function restoreState(records: Records, at: string): State {
  const { assigned, lastKnownGood, doing, failures, obeyed } = records;
  const failed = 'found' in failures ? failures.found : null;
  const state: State = {
    assigned: 'found' in assigned ? assigned.found.target : null,
    lastKnownGood: 'found' in lastKnownGood ? lastKnownGood.found.target : (failed?.insteadRuns ?? null),
    promotedAt: 'found' in lastKnownGood ? lastKnownGood.found.promotedAt : null,
    doing: IDLE,
    rejected: failed?.rejected ?? [],
    error: failed?.error ?? null,
    refusedBase: failed?.refusedBase ?? null,
    ...(failed?.unproved === undefined ? {} : { unproved: failed.unproved }),
    ...('found' in obeyed && obeyed.found !== undefined ? { obeyed: obeyed.found } : {}),
  };
  if ('damaged' in doing) return { ...state, doing: guessDoing(state, records) };
  if (doing.found !== null) {
    return restoreMiddle({ ...state, doing: isLost(records) ? withoutRun(doing.found) : doing.found }, records, at);
  }
  return restoreIdle(state, records, at);
}

/** The record of the last known good config is lost. */
const isLost = ({ lastKnownGood, failures }: Records): boolean =>
  'damaged' in lastKnownGood && ('damaged' in failures || failures.found === null);

/** What this run of the kubelet has is unknown, so it does not count as running the fallback. */
function withoutRun(doing: Doing): Doing {
  if (doing.phase === 'trial') return { ...doing, before: null };
  return doing.phase === 'falling-back' && doing.change.step === 'install'
    ? { ...doing, change: { step: 'install' } }
    : doing;
}

/** What is assigned and neither on trial nor good was rejected, whether or not anybody knows why. */
function restoreMiddle(state: State, { failures }: Records, at: string): State {
  const { assigned, lastKnownGood, doing } = state;
  if (assigned === null || sameConfig(assigned, lastKnownGood) || sameConfig(assigned, activeOf(state))) return state;
  if ('damaged' in failures) return withRejected(state, assigned, { ...RECORD_LOST, at });
  // What is on trial is written down before that it is assigned, and in between the agent may have died.
  const isStale = doing.phase === 'trial' && rejectionOf(state, assigned) === undefined;
  return isStale ? { ...state, assigned: doing.config } : state;
}

/** An idle node runs lastKnownGood, and what is assigned is the same or was rejected. */
function restoreIdle(state: State, records: Records, at: string): State {
  const { assigned, failures } = records;
  const config = 'damaged' in assigned ? state.lastKnownGood : state.assigned;
  if (config !== null && rejectionOf(state, config) !== undefined) return { ...state, assigned: config };
  // Then what is assigned is either good or rejected. While it is unknown which, nothing is touched, and it is tried again
  // if it is still wanted.
  if (isLost(records) && ('damaged' in assigned || 'damaged' in failures)) return { ...state, assigned: null };
  if (config === null || sameConfig(config, state.lastKnownGood)) return { ...state, assigned: config };
  if (isLost(records)) return { ...state, lastKnownGood: config };
  return 'damaged' in failures ? withRejected(state, config, { ...RECORD_LOST, at }) : state;
}

/**
 * The node was in the middle of something. A trial is not gone on with: whether its config was refused is in a record that may have
 * been half written, so it has to be looked at again before the kubelet hears of it.
 */
function guessDoing(state: State, records: Records): Doing {
  const { assigned } = records;
  const config = state.assigned;
  if (config === null) {
    if ('found' in assigned) return fallingBackTo(null, 'unassigned');
    // With nothing left, nothing is touched.
    return isLost(records) ? IDLE : fallingBackTo(state.lastKnownGood, 'failed');
  }
  if (sameConfig(config, state.lastKnownGood)) return fallingBackTo(config, 'superseded');
  return fallingBackTo(state.lastKnownGood, 'failed');
}

const fallingBackTo = (to: Config | null, because: 'failed' | 'unassigned' | 'superseded'): Doing => ({
  phase: 'falling-back',
  to,
  because,
  terms: to?.trial ?? DEFAULT_TERMS,
  change: { step: 'install' },
});
