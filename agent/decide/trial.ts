import type { Decision } from './decision.ts';
import { toNodeError } from './node-error.ts';
import type { Failure } from './failure.ts';
import type { Observation } from './observation.ts';
import {
  type Config,
  errorOf,
  IDLE,
  type KubeletRun,
  nameOf,
  rejectionOf,
  sameConfig,
  sameConfigAndBase,
  type State,
  type Target,
  type Trial,
  withRejected,
} from './state.ts';
import { unprovenAfterPromotion } from './boot-guard.ts';
import { advanceChange } from './change.ts';
import { startFallingBack } from './fall-back.ts';
import { withPressureSoFar } from './node-pressure.ts';
import {
  failureOfFiredGuard,
  type FiredGuard,
  guardFiredOn,
  guardReadiness,
  runStartedByGuard,
  whyNoVerdict,
} from './trial-guard.ts';
import { failureOf, shouldRestoreFiles, tallyHealth, trialVerdictOf, verdictOf } from './health-verdict.ts';
import type { AgentTiming } from './timing.ts';
import { mayRepair } from './repair-limit.ts';
import { whyNotStarted } from './kubelet-start.ts';
import { restartTrial, firstStep, isUntouched, startTrialAfterGuard, withInstalledBase } from './start-trial.ts';
import { restartTrialAfterUpgrade, isUpgraded } from './kubelet-upgrade.ts';

/** What is on trial is the node's new own config; the config over it was proven before. */
const isOverNewBase = ({ lastKnownGood }: State, config: Config): boolean =>
  sameConfig(lastKnownGood, config) && !sameConfigAndBase(lastKnownGood, config);

/** Takes a trial one look further: on to the restart and the judgement, to promotion, or back to what was good. */
export function continueTrial(before: State, trial: Trial, seen: Observation, pace: AgentTiming): Decision {
  const doing = withPressureSoFar(withInstalledBase(trial, seen), seen);
  const state: State = doing === trial ? before : { ...before, doing };
  const { config } = doing;
  // An agent that died half-way through writing its state down left one of these two behind.
  if (sameConfigAndBase(state.lastKnownGood, config)) {
    // It was good, and no agent was there to promote it before the guard took it back.
    return guardFiredOn(doing, seen) === undefined
      ? promote(state, config, state.promotedAt ?? seen.at, seen, pace)
      : startTrialAfterGuard(state, config, seen);
  }
  if (isOverNewBase(state, config) && state.refusedBase?.sha256 === config.base) return goBack(state, doing, seen);
  const rejected = rejectionOf(state, config);
  if (rejected !== undefined) return goBack({ ...state, error: errorOf(rejected) }, doing, seen);
  const fired = guardFiredOn(doing, seen);
  if (fired !== undefined) {
    if (isUntried(doing, fired)) return restartTrial(state, doing, seen);
    const again = withoutVerdict(doing, fired, seen);
    return again === null ? fail(state, doing, failureOfFiredGuard(fired), seen) : restartTrial(state, again, seen);
  }

  if (isUpgraded(doing, seen)) {
    const over = restartTrialAfterUpgrade(doing, seen);
    return firstStep({ ...state, doing: over }, over, seen);
  }

  const recheckAfterMs = Math.min(pace.changingMs, seen.pollMs);
  if (doing.change.step !== 'judge') {
    const readiness = guardReadiness(doing, state.lastKnownGood, seen);
    if (readiness.guard === 'failed') return fail(state, doing, readiness.failure, seen);
    if (readiness.guard === 'not-yet') {
      const { actions, fault } = readiness;
      // One that was lost in mid-change and cannot be had again is not waited for: the kubelet may be down meanwhile.
      if (fault !== null && doing.change.step !== 'install') return fail(state, doing, fault, seen);
      const waitMs = Math.min(seen.guardFault?.retryInMs ?? 0, pace.maxStepMs);
      return { next: state, actions, recheckAfterMs: fault === null ? 0 : Math.max(recheckAfterMs, waitMs) };
    }
  }
  // They may change while the trial runs, without starting it again: `heed` keeps them up to date.
  const terms = config.trial;
  const because = `trial of ${config.source.name}, pool ${config.pool ?? '-'}, commit ${config.commit ?? '-'}`;
  const step = advanceChange(
    doing.change,
    seen,
    { target: config, terms, because, mayFail: true, reboot: config.reboot },
    pace,
  );
  if (step.advance === 'stuck') return fail(state, doing, step.failure, seen);
  const isJudging = step.advance === 'judging' || step.change.step === 'judge';
  const boots = isJudging ? bootsIn(doing, seen) : undefined;
  if (boots !== undefined && boots > Math.max(USUAL_BOOTS, terms.maxRestarts)) {
    const message = `the machine rebooted ${boots} times with it, and nobody ordered that`;
    return fail(state, doing, { reason: 'MachineRebooted', message }, seen);
  }
  const counted = boots === undefined ? doing : { ...doing, boots };
  if (step.advance === 'going') {
    const next = { ...state, doing: { ...counted, change: step.change } };
    return { next, actions: step.actions, recheckAfterMs: step.moved ? 0 : recheckAfterMs };
  }
  if (isLostForGood(config, seen)) return fail(state, doing, lostCheckpoint(seen), seen);
  if (startedWithOtherFiles(seen)) return restartTrial(state, doing, seen);
  const verdict = trialVerdictOf(seen, doing);
  const judged = tallyHealth(step.judged, verdict, seen, pace.maxStepMs);
  const failure = failureOf(judged, verdict, seen, terms, pace);
  if (failure !== undefined) return fail(state, doing, failure, seen);
  if ((judged.outageMs ?? 0) >= pace.outageMs) return endForOutage(state, doing, seen);
  if (verdict.verdict === 'healthy' && judged.healthyMs >= terms.durationMs)
    return promote(state, config, seen.at, seen, pace);
  const next: State = { ...state, doing: { ...counted, change: { step: 'judge', judged } } };
  return { next, actions: shouldRestoreFiles(seen) ? [{ do: 'repair', target: config }] : [], recheckAfterMs };
}

/** A machine reboots once for reasons of its own, and a person reboots it once more. */
const USUAL_BOOTS = 2;

/** How many there were since its files are in place, with this look; undefined for none. One that its pool ordered is none of them. */
function bootsIn({ change, boots }: Trial, { bootId }: Observation): number | undefined {
  const known = change.step === 'judge' ? change.judged.bootId : change.step === 'restart' ? change.bootId : bootId;
  return known === bootId ? boots : (boots ?? 0) + 1;
}

/** Another writer changed the files and restarted the kubelet: that says nothing of the config, and its turn is not over. */
const startedWithOtherFiles = (seen: Observation): boolean =>
  !seen.startedAsInstalled &&
  mayRepair(seen.repairAges) &&
  (seen.running.running === 'contradicts' || (seen.files.files === 'differ' && seen.running.running === 'unseen'));

/** No agent was there to install it, or the disk was full: the guard's fallback then says nothing of the config. */
const isUntried = ({ change }: Trial, { cause }: FiredGuard): boolean =>
  change.step === 'install' && cause === 'silence';

/** A config that keeps the agent away would be tried forever. */
const MOST_UNWATCHED = 2;

/**
 * The trial that begins again because no agent was there to judge it: the machine booted while the API server was away, or the
 * agent could not run. The same after a power loss that took the guard's note of why. null if there is a verdict:
 * the guard saw the kubelet fail, or this has happened too often.
 */
function withoutVerdict(doing: Trial, fired: FiredGuard, seen: Observation): Trial | null {
  const { unwatched = 0, warnings } = doing;
  const why = whyNoVerdict(fired);
  if (why === undefined || unwatched >= MOST_UNWATCHED) return null;
  const wasHealthy = doing.wasHealthy && verdictOf(seen).verdict !== 'unhealthy';
  return { ...doing, wasHealthy, unwatched: unwatched + 1, warnings: [...warnings, `${why}; it is tried again`] };
}

/** A lost checkpoint says nothing about its config; but it comes back only while its config is wanted. */
function isLostForGood(config: Config, { files, intent }: Observation): boolean {
  const isFetched = intent.intent === 'unknown' || (intent.intent === 'config' && sameConfig(intent.config, config));
  return files.files === 'lost' && !isFetched;
}

const lostCheckpoint = ({ files }: Observation): Failure => ({
  reason: 'CheckpointLost',
  message: `${files.files === 'lost' ? files.message : 'its checkpoint is lost'}, and another config is wanted`,
});

/** What is assigned says over which base, too: where the record of lastKnownGood is lost, it is known from that. */
function promote(state: State, config: Config, promotedAt: string, seen: Observation, pace: AgentTiming): Decision {
  const assigned = sameConfig(state.assigned, config) ? config : state.assigned;
  const { unproved: _, ...rest } = state;
  const next: State = {
    ...rest,
    ...unprovenAfterPromotion(state, config, seen),
    assigned,
    lastKnownGood: config,
    promotedAt,
    doing: IDLE,
    refusedBase: null,
  };
  return { next, actions: [{ do: 'collect-garbage' }], recheckAfterMs: pace.idleMs };
}

function fail(state: State, doing: Trial, failure: Failure, seen: Observation): Decision {
  const { config, wasHealthy } = doing;
  // Whether the machine reboots does not depend on its kubelet.
  const isBlamed = wasHealthy || failure.reason === 'RebootMissing';
  const { reason, message } = isBlamed ? failure : unblamed(failure);
  if (isOverNewBase(state, config)) return failOverNewBase(state, doing, message, seen);
  const fallback = nameOf(state.lastKnownGood);
  const sentence = `${config.source.name} failed its trial: ${message}. The node goes back to ${fallback}`;
  const error = toNodeError({ reason, message: sentence }, config, seen.at, state.error);
  return goBack(withRejected({ ...state, error }, config, error), doing, seen);
}

/** No kubelet has read the config, so it is not to blame. The files are put back, and it is tried again when the Node is Ready. */
function endForOutage(state: State, doing: Trial, seen: Observation): Decision {
  const { config } = doing;
  if (isOverNewBase(state, config)) return goBack(state, doing, seen);
  const message = `the trial of ${config.source.name} ended without a verdict: ${whyNotStarted(seen)}. The node goes back to ${nameOf(state.lastKnownGood)}, and it is tried again when the Node is Ready`;
  const error = toNodeError({ reason: 'UnhealthyBefore', message }, config, seen.at, state.error);
  return goBack(withRejected({ ...state, error }, config, error), doing, seen);
}

/** The config was good over the one before, so it is not to blame. */
function failOverNewBase(state: State, doing: Trial, why: string, seen: Observation): Decision {
  const { config } = doing;
  if (config.base === undefined) return goBack(state, doing, seen);
  const message = `${nameOf(config)} failed over the node's new own kubelet config: ${why}. The node keeps the one before`;
  return goBack({ ...state, refusedBase: { sha256: config.base, message, at: seen.at } }, doing, seen);
}

const unblamed = ({ message }: Failure): Failure => ({
  reason: 'UnhealthyBefore',
  message: `${message}; but the kubelet was not healthy before either, so it is tried again when it is`,
});

function goBack(state: State, doing: Trial, seen: Observation): Decision {
  const to = state.lastKnownGood;
  return startFallingBack(state, to, 'failed', doing.config.trial, runWithFallback(doing, to, seen));
}

/** A run that already has what the node falls back to: not restarted yet, or restarted by the guard. */
export function runWithFallback(doing: Trial, to: Target, seen: Observation): KubeletRun | undefined {
  if (guardFiredOn(doing, seen)?.restarted === true) return runStartedByGuard(to, seen);
  return isUntouched(doing) ? (doing.before ?? undefined) : undefined;
}
