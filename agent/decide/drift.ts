import type { Millis } from '#shared/runtime/clock.ts';
import type { Decision, Remedy } from './decision.ts';
import type { Failure } from './failure.ts';
import type { Observation, StageResult } from './observation.ts';
import type { AgentTiming } from './timing.ts';
import { startFallingBack } from './fall-back.ts';
import { mayRepair, repairsWithinTheHour } from './repair-limit.ts';
import { type Config, sameConfig, sameConfigAndBase, type State } from './state.ts';
import { isDown, startFailedKubelet } from './start-failed-kubelet.ts';
import { isNodeUnreadable } from './staging.ts';
import { startTrialOverNewBase } from './start-trial.ts';
import { isTurnGranted, restartNeeded } from './restart-turn.ts';

/** What to do about drift. */
export type Drift =
  /** The node is as it was left, or runs nothing of ours, or is being changed. */
  | { readonly drift: 'none' }
  /** The pool wants it reported, and nothing else. */
  | { readonly drift: 'reported' }
  /** Only a restart of the kubelet would end it, and the node does not have its turn yet. */
  | { readonly drift: 'awaits-turn' }
  /** The node's own config was refused with this config: the one before is kept. */
  | { readonly drift: 'base-refused' }
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
  | { readonly drift: 'refused'; readonly config: Config; readonly remedy: Remedy; readonly failure: Failure }
  /** The config passed its checks right before this look. */
  | { readonly drift: 'checked'; readonly config: Config; readonly remedy: Remedy };

type Unpassed = Exclude<StageResult, { readonly outcome: 'ready' }>;

const NONE: Drift = { drift: 'none' };

/** The whole policy about drift. Pure; `restOrRepair` turns it into actions, the status shows it. */
export function driftOf(state: State, seen: Observation): Drift {
  const { doing, lastKnownGood: config } = state;
  if (doing.phase !== 'idle' || config === null) return NONE;
  if (config.drift === 'report') return hasDrifted(seen) ? { drift: 'reported' } : NONE;
  const request = restartNeeded(state, seen);
  if (request !== null && isTurnGranted(request, seen)) {
    return request.base === undefined
      ? // What is in place was proven, and passed its checks when it was put back.
        { drift: 'checked', config, remedy: 'start-again' }
      : checkedDrift({ ...config, base: request.base }, 'try-over', seen);
  }
  if (seen.files.files === 'differ' && !isOverLostBase(seen)) {
    return mayRepair(seen.repairAges)
      ? checkedDrift(config, 'put-back', seen)
      : { drift: 'paused', times: repairsWithinTheHour(seen.repairAges) };
  }
  if (request !== null) return { drift: 'awaits-turn' };
  if (hasDrifted(seen)) return checkedDrift(config, 'none', seen);
  // One that was not refused would need a restart.
  return seen.base.newer?.changes === true ? { drift: 'base-refused' } : NONE;
}

/** Our file is in place and may be what was proven. What would be put there was not, and waits for its turn. */
const isOverLostBase = ({ base: { newer } }: Observation): boolean => newer?.changes === true && newer.lost === 'kept';

/** A check counts for the look right after it: what a later look sees may be different drift. */
function checkedDrift(config: Config, remedy: Remedy, { rechecked }: Observation): Drift {
  const unchecked: Drift = { drift: 'unchecked', config, remedy, before: null };
  if (rechecked === null || !sameConfigAndBase(rechecked.config, config)) return unchecked;
  const { result, isNew, retryInMs } = rechecked;
  switch (result.outcome) {
    case 'ready':
      return isNew && rechecked.remedy === remedy ? { drift: 'checked', config, remedy } : unchecked;
    case 'refused':
      return isNew ? { drift: 'refused', config, remedy, failure: result.failure } : { ...unchecked, before: result };
    case 'unavailable':
      return retryInMs > 0 ? { drift: 'uncheckable', retryInMs } : { ...unchecked, before: result };
  }
}

/** Whether anything on the node differs from what the agent left there. */
const hasDrifted = ({ files, running }: Observation): boolean =>
  files.files === 'differ' || running.running === 'contradicts';

/** What a node at rest does: nothing, unless its files or its kubelet were changed from outside. */
export function restOrRepair(state: State, seen: Observation, pace: AgentTiming): Decision {
  const rest: Decision = {
    next: state,
    actions: seen.first ? [{ do: 'collect-garbage' }] : [],
    recheckAfterMs: isDown(seen) ? pace.maxStepMs : seen.isRegistering === true ? pace.changingMs : pace.idleMs,
  };
  const start = startFailedKubelet(state, seen, pace);
  if (start !== null) return { ...rest, actions: [...rest.actions, start] };
  const drift = driftOf(state, seen);
  switch (drift.drift) {
    case 'none':
      return withEqualBase(state, rest, seen);
    case 'reported':
    case 'awaits-turn':
    case 'base-refused':
    case 'paused':
      return rest;
    case 'uncheckable':
      return { ...rest, recheckAfterMs: Math.min(drift.retryInMs, pace.idleMs) };
    case 'unchecked': {
      const { config, remedy } = drift;
      return { ...rest, actions: [...rest.actions, { do: 'recheck', config, remedy }], recheckAfterMs: 0 };
    }
    case 'checked':
      return repair(state, drift, rest, seen, pace);
    case 'refused':
      return refuseNewBase(state, drift, rest, seen);
  }
}

type Checked = Extract<Drift, { readonly drift: 'checked' }>;

function repair(
  state: State,
  { config, remedy }: Checked,
  rest: Decision,
  seen: Observation,
  pace: AgentTiming,
): Decision {
  switch (remedy) {
    case 'none':
      return rest;
    case 'put-back':
      return { ...rest, actions: [...rest.actions, { do: 'repair', target: config }], recheckAfterMs: pace.changingMs };
    case 'start-again':
      return startFallingBack(state, config, 'drifted', config.trial);
    case 'try-over':
      // As for any trial: a Node that is unreadable before it could turn NotReady in it unnoticed.
      return isNodeUnreadable(seen) ? rest : startTrialOverNewBase(state, config, seen);
  }
}

/** The node's own config changed in nothing that the kubelet would see: the way back to local leads to the new one. */
function withEqualBase(state: State, rest: Decision, { base: { newer } }: Observation): Decision {
  const { assigned, lastKnownGood } = state;
  if (lastKnownGood === null || newer === null || newer.changes) return rest;
  const config: Config = { ...lastKnownGood, base: newer.sha256 };
  const next: State = { ...state, lastKnownGood: config, assigned: sameConfig(assigned, config) ? config : assigned };
  return { ...rest, next, actions: [{ do: 'collect-garbage' }] };
}

type Refused = Extract<Drift, { readonly drift: 'refused' }>;

/** The node had its turn for it, and its checks say that the sum would not do. */
function refuseNewBase(
  state: State,
  { config, remedy, failure }: Refused,
  rest: Decision,
  seen: Observation,
): Decision {
  if (remedy !== 'try-over' || config.base === undefined) return rest;
  return { ...rest, next: { ...state, refusedBase: { sha256: config.base, message: failure.message, at: seen.at } } };
}
