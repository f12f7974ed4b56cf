import type { Decision } from '../decision.ts';
import { asError, type Failure } from '../failure.ts';
import type { Observation } from '../observation.ts';
import {
  type Config,
  errorOf,
  IDLE,
  nameOf,
  rejectionOf,
  sameConfig,
  type State,
  type Trial,
  type TrialTerms,
  withRejected,
} from '../state.ts';
import { advance } from './change.ts';
import { startFallingBack } from './fall-back.ts';
import { failureOf, tally, trialVerdictOf } from './judge.ts';
import type { Pace } from './pace.ts';

/** Puts a staged config on trial; whatever was on trial before is superseded, lastKnownGood stays what it was. */
export function startTrial(state: State, config: Config, seen: Observation): Decision {
  // A trial that is superseded may be why the Node is not Ready now.
  const wasReady = seen.nodeReady === 'yes' || (state.doing.phase === 'trial' && state.doing.wasReady);
  const warnings = seen.staged?.outcome === 'ready' ? seen.staged.warnings : [];
  const doing: Trial = { phase: 'trial', config, since: seen.at, wasReady, warnings, change: { step: 'install' } };
  const next: State = { ...state, assigned: config, error: null, doing };
  return { next, actions: [{ do: 'install', target: config }], recheckAfterMs: 0 };
}

export function continueTrial(state: State, doing: Trial, seen: Observation, pace: Pace): Decision {
  const { config } = doing;
  // An agent that died half-way through writing its state down left one of these two behind.
  if (sameConfig(state.lastKnownGood, config)) return promote(state, config, state.promotedAt ?? seen.at, pace);
  const terms = termsOf(config, seen);
  const rejected = rejectionOf(state, config);
  if (rejected !== undefined) return goBack({ ...state, error: errorOf(rejected) }, terms);

  const because = `trial of ${config.source.name}, pool ${config.pool ?? '-'}, commit ${config.commit ?? '-'}`;
  const step = advance(doing.change, seen, { target: config, terms, because }, pace);
  const recheckAfterMs = Math.min(pace.changingMs, seen.pollMs);
  if (step.advance === 'stuck') return fail(state, config, step.failure, seen);
  if (step.advance === 'going') {
    const next = { ...state, doing: { ...doing, change: step.change } };
    return { next, actions: step.actions, recheckAfterMs: step.moved ? 0 : recheckAfterMs };
  }
  const verdict = trialVerdictOf(seen, doing);
  const judged = tally(step.judged, verdict, seen, pace.maxStepMs);
  const failure = failureOf(judged, verdict, seen, terms, pace);
  if (failure !== undefined) return fail(state, config, failure, seen);
  if (judged.healthy && judged.healthyMs >= terms.durationMs) return promote(state, config, seen.at, pace);
  return { next: { ...state, doing: { ...doing, change: { step: 'judge', judged } } }, actions: [], recheckAfterMs };
}

/** The terms may be changed while the trial runs: another commit can shorten a trial without starting it again. */
function termsOf(config: Config, { intent }: Observation): TrialTerms {
  return intent.intent === 'config' && sameConfig(intent.config, config) ? intent.config.trial : config.trial;
}

function promote(state: State, config: Config, promotedAt: string, pace: Pace): Decision {
  const next: State = { ...state, lastKnownGood: config, promotedAt, doing: IDLE };
  return { next, actions: [{ do: 'collect-garbage' }], recheckAfterMs: pace.idleMs };
}

function fail(state: State, config: Config, { reason, message }: Failure, seen: Observation): Decision {
  const fallback = nameOf(state.lastKnownGood);
  const sentence = `${config.source.name} failed its trial: ${message}. The node goes back to ${fallback}`;
  const error = asError({ reason, message: sentence }, config, seen.at, state.error);
  return goBack(withRejected({ ...state, error }, config, error), termsOf(config, seen));
}

const goBack = (state: State, terms: TrialTerms): Decision =>
  startFallingBack(state, state.lastKnownGood, 'failed', terms);
