import { isDeepStrictEqual as equal } from 'node:util';
import { toNodeError } from './node-error.ts';
import type { Observation } from './observation.ts';
import {
  activeOf,
  type Config,
  errorOf,
  rejectionOf,
  sameConfig,
  type State,
  UNHEALTHY_BEFORE,
  withoutRejected,
} from './state.ts';
import { isOldOrder } from './assignment/order.ts';
import { DEFAULT_TERMS } from './assignment/terms.ts';
import { startFallingBack } from './fall-back.ts';
import { runStartedByGuard } from './trial-guard.ts';
import { runWithFallback } from './trial.ts';
import { hasForeignFiles } from './unknown-active.ts';
import { type AssignmentStep, isRejected, continueWith, restoreCheckpoint, stage, switchTo } from './staging.ts';

/** Heeds what the API server wants. Never touches the kubelet for what it runs already, or for what is not known. */
export function applyAssignment(state: State, seen: Observation): AssignmentStep {
  const { intent } = seen;
  if (isOldOrder(state, seen)) return continueWith(state);
  switch (intent.intent) {
    case 'unknown':
      return continueWith(state);
    case 'invalid': {
      const error = toNodeError(intent.failure, undefined, seen.at, state.error);
      return continueWith(error === state.error ? state : { ...state, error });
    }
    case 'local':
      return heedLocal(state, seen);
    case 'config':
      return heedConfig(
        afterOutage(forgiven(state, intent.config, intent.forgive), intent.config, seen),
        intent.config,
        seen,
      );
  }
}

function heedLocal(state: State, seen: Observation): AssignmentStep {
  const { doing } = state;
  // What was ordered before the state was lost is done now.
  if (doing.phase === 'idle' && activeOf(state) === null && hasForeignFiles(seen)) {
    return switchTo(startFallingBack({ ...state, assigned: null, error: null }, null, 'unassigned', DEFAULT_TERMS));
  }
  if (activeOf(state) !== null) {
    const terms = doing.phase === 'trial' ? doing.config.trial : (state.lastKnownGood?.trial ?? DEFAULT_TERMS);
    const unassigned: State = { ...state, assigned: null, lastKnownGood: null, promotedAt: null, error: null };
    const isTrialOverLocal = doing.phase === 'trial' && state.lastKnownGood === null;
    const running =
      runStartedByGuard(null, seen) ?? (isTrialOverLocal ? runWithFallback(doing, null, seen) : undefined);
    return switchTo(startFallingBack(unassigned, null, 'unassigned', terms, running));
  }
  if (doing.phase === 'falling-back' && doing.because !== 'unassigned') {
    return continueWith({ ...state, assigned: null, doing: { ...doing, because: 'unassigned' } });
  }
  // The error of a broken node is not about the assignment: it stays until the kubelet is back.
  const error = doing.phase === 'idle' ? null : state.error;
  return continueWith(state.assigned === null && state.error === error ? state : { ...state, assigned: null, error });
}

function heedConfig(state: State, config: Config, seen: Observation): AssignmentStep {
  const { doing, lastKnownGood } = state;
  const active = activeOf(state);
  if (active !== null && sameConfig(config, active)) return heedActive(state, config, active, seen);
  if (doing.phase === 'trial' && lastKnownGood !== null && sameConfig(config, lastKnownGood)) {
    const back: State = { ...state, assigned: lastKnownGood, error: null };
    const running = runWithFallback(doing, lastKnownGood, seen);
    return switchTo(startFallingBack(back, lastKnownGood, 'superseded', doing.config.trial, running));
  }
  if (isRejected(state, config)) return continueWith(withItsError(state, config));
  // One thing at a time: the way back ends soon, and then there is ground to stand on.
  if (doing.phase === 'falling-back') return continueWith(withoutRejected(state, config));
  return stage(state, config, seen);
}

/** Forgets the very rejection that a person forgave: its time tells it from another one of the same config. */
function forgiven(state: State, config: Config, forgive: string | undefined): State {
  const entry = rejectionOf(state, config);
  return entry === undefined || entry.at !== forgive ? state : { ...withoutRejected(state, config), error: null };
}

/** What failed in an outage that its way back did not end is tried again when that is over. */
function afterOutage(state: State, config: Config, { nodeReady }: Observation): State {
  const isOver = state.doing.phase === 'idle' && nodeReady === 'yes';
  return isOver && rejectionOf(state, config)?.reason === UNHEALTHY_BEFORE
    ? { ...withoutRejected(state, config), error: null }
    : state;
}

/** What is wanted runs already, or is on its way: another commit, a ConfigMap made again, or the same news again. */
function heedActive(state: State, config: Config, active: Config, seen: Observation): AssignmentStep {
  const isOnItsWayBack = state.doing.phase === 'falling-back';
  const error = isOnItsWayBack ? state.error : null;
  const isKnown = sameConfig(state.assigned, active) && state.error === error;
  const known = withTerms(isKnown ? state : { ...state, assigned: active, error }, config);
  return seen.files.files === 'lost' && !isOnItsWayBack ? restoreCheckpoint(known, config, seen) : continueWith(known);
}

/** The same config on other terms: they hold at once, and have to hold after a restart of the agent too. */
function withTerms(state: State, config: Config): State {
  const { trial, drift, allowFields, tolerate } = config;
  const now = <T extends Config | null>(target: T): T =>
    target === null || !sameConfig(target, config) ? target : { ...target, trial, drift, allowFields, tolerate };
  const { assigned, lastKnownGood, doing } = state;
  const next: State = {
    ...state,
    assigned: now(assigned),
    lastKnownGood: now(lastKnownGood),
    doing: doing.phase === 'trial' ? { ...doing, config: now(doing.config) } : doing,
  };
  return equal(next, state) ? state : next;
}

/** Another assignment's error may have come in between. */
function withItsError(state: State, config: Config): State {
  const entry = rejectionOf(state, config);
  if (entry === undefined || state.error?.config === entry.name) return state;
  return { ...state, error: errorOf(entry) };
}
