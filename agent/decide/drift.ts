import type { Millis } from '#shared/runtime/clock.ts';
import type { Decision, Remedy } from './decision.ts';
import type { Failure } from './failure.ts';
import type { Observation, StageResult } from './observation.ts';
import type { Pace } from './pace.ts';
import { type Config, sameConfig, type State } from './state.ts';
import { startTrialOver } from './trial.ts';

/** How often the agent puts files back within `REPAIR_SPAN_MS`. What changes them more often does so on purpose. */
const MOST_REPAIRS = 4;
const REPAIR_SPAN_MS: Millis = 60 * 60_000;

/** What to do about drift. */
export type Drift =
  /** The node is as it was left, or runs nothing of ours, or is being changed. */
  | { readonly drift: 'none' }
  /** The pool wants it reported, and nothing else. */
  | { readonly drift: 'reported' }
  /** It was put back too often within the last hour. */
  | { readonly drift: 'paused'; readonly times: number }
  /**
   * Check the config first: the node's own config, the machine or the kubelet may have changed since its trial.
   * `before`: the result of the last check, which is too old to act on.
   */
  | { readonly drift: 'unchecked'; readonly config: Config; readonly remedy: Remedy; readonly before: Unpassed | null }
  /** The check could not be made. The next one is due in `retryInMs`. */
  | { readonly drift: 'uncheckable'; readonly retryInMs: Millis }
  /** The config no longer passes its checks. */
  | { readonly drift: 'refused'; readonly failure: Failure }
  /** The config passed its checks right before this look. */
  | { readonly drift: 'checked'; readonly config: Config; readonly remedy: Remedy };

type Unpassed = Exclude<StageResult, { readonly outcome: 'ready' }>;

const NONE: Drift = { drift: 'none' };

/** The whole policy about drift. Pure; `restOrRepair` turns it into actions, the status shows it. */
export function driftOf({ doing, lastKnownGood: config }: State, seen: Observation): Drift {
  if (doing.phase !== 'idle' || config === null || !hasDrifted(seen)) return NONE;
  if (config.drift === 'report') return { drift: 'reported' };
  const times = seen.repairAges.filter((ageMs) => ageMs < REPAIR_SPAN_MS).length;
  return times >= MOST_REPAIRS ? { drift: 'paused', times } : checkedDrift(config, remedyFor(seen), seen);
}

/** A check counts for the look right after it: what a later look sees may be different drift. */
function checkedDrift(config: Config, remedy: Remedy, { rechecked }: Observation): Drift {
  const unchecked: Drift = { drift: 'unchecked', config, remedy, before: null };
  if (rechecked === null || !sameConfig(rechecked.config, config)) return unchecked;
  const { result, isNew, retryInMs } = rechecked;
  switch (result.outcome) {
    case 'ready':
      return isNew && rechecked.remedy === remedy ? { drift: 'checked', config, remedy } : unchecked;
    case 'refused':
      return isNew ? { drift: 'refused', failure: result.failure } : { ...unchecked, before: result };
    case 'unavailable':
      return retryInMs > 0 ? { drift: 'uncheckable', retryInMs } : { ...unchecked, before: result };
  }
}

function remedyFor({ files, running, startedAsInstalled, newBase }: Observation): Remedy {
  const isStale = !startedAsInstalled && running.running !== 'as-meant';
  if (isStale || newBase) return 'try-over';
  return files.files === 'differ' ? 'put-back' : 'none';
}

/** Whether anything on the node differs from what the agent left there. */
const hasDrifted = ({ files, running }: Observation): boolean =>
  files.files === 'differ' || running.running === 'contradicts';

/** What a node at rest does: nothing, unless its files or its kubelet were changed from outside. */
export function restOrRepair(state: State, seen: Observation, pace: Pace): Decision {
  const rest: Decision = {
    next: state,
    actions: seen.first ? [{ do: 'collect-garbage' }] : [],
    recheckAfterMs: pace.idleMs,
  };
  const drift = driftOf(state, seen);
  switch (drift.drift) {
    case 'none':
    case 'reported':
    case 'paused':
    case 'refused':
      return rest;
    case 'uncheckable':
      return { ...rest, recheckAfterMs: Math.min(drift.retryInMs, pace.idleMs) };
    case 'unchecked': {
      const { config, remedy } = drift;
      return { ...rest, actions: [...rest.actions, { do: 'recheck', config, remedy }], recheckAfterMs: 0 };
    }
    case 'checked':
      return repair(state, drift, rest, seen, pace);
  }
}

type Checked = Extract<Drift, { readonly drift: 'checked' }>;

function repair(state: State, { config, remedy }: Checked, rest: Decision, seen: Observation, pace: Pace): Decision {
  switch (remedy) {
    case 'none':
      return rest;
    case 'put-back':
      return { ...rest, actions: [...rest.actions, { do: 'repair', target: config }], recheckAfterMs: pace.changingMs };
    case 'try-over':
      // Its fallback is local: nothing else was ever tried over what is there now.
      return startTrialOver(state, config, seen);
  }
}

/** Adds a repair to those remembered, by monotonic times. Keeps as many as `driftOf` counts. */
export const withRepair = (repairs: readonly Millis[], at: Millis): readonly Millis[] =>
  [...repairs, at].slice(-MOST_REPAIRS);
