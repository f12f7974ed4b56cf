import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import type { Action, Decision, GuardedTrial } from './decision.ts';
import type { Failure } from './failure.ts';
import type { GuardFault, GuardOrder, GuardSeen } from '../ports/guard.ts';
import type { Observation } from './observation.ts';
import { type Config, type KubeletRun, nameOf, type State, type Target, type Trial, type TrialTerms } from './state.ts';
import { verdictOf } from './health-verdict.ts';

/** Names one trial: the same config may be tried again later. */
export const trialIdOf = ({ config, since }: GuardedTrial): string => `${configIdOf(config)}@${since}`;

const configIdOf = ({ source: { name, sha256 }, apply, keepFields }: Config): string =>
  [name, sha256, apply, ...(keepFields.length === 0 ? [] : [payloadSha256(keepFields.join('\n'))])].join('/');

/** Names what the way back leads to. */
export const targetIdOf = (target: Target): string =>
  target === null ? nameOf(null) : `${configIdOf(target)}${target.base === undefined ? '' : `/${target.base}`}`;

/** A person may restart the kubelet once more than the trial forgives. */
const SPARE_STARTS = 1;
const ORDERED_START = 1;

/** When the guard takes a trial back. It waits for a silent agent as long as a whole trial takes. */
export const guardLimitsOf = ({
  durationMs,
  startTimeoutMs,
  maxRestarts,
}: TrialTerms): Pick<GuardOrder, 'maxStarts' | 'silenceSeconds'> => ({
  maxStarts: ORDERED_START + maxRestarts + SPARE_STARTS,
  silenceSeconds: Math.ceil((durationMs + startTimeoutMs) / 1000),
});

/** Whether the files of a trial may be touched now. */
type GuardReadiness =
  | { readonly guard: 'ready' }
  /** No actions: it was tried a moment ago. `fault`: what is known to be in the way. */
  | { readonly guard: 'not-yet'; readonly actions: readonly Action[]; readonly fault: Failure | null }
  | { readonly guard: 'failed'; readonly failure: Failure };

/**
 * What is in the way may be gone a moment later; a node that cannot have its guard is not experimented with. Room on the
 * disk is waited for, however long that takes: it says nothing of the config.
 */
export const MAX_GUARD_TRIES = 12;

/** A trial begins, and restarts the kubelet, only with a guard that can end it without the agent. */
export function guardReadiness(trial: Trial, to: Target, { guard, guardFault }: Observation): GuardReadiness {
  if (guard.guard === 'none') return { guard: 'ready' };
  if (guard.guard === 'armed' && guard.trial === trialIdOf(trial)) return { guard: 'ready' };
  const fault = faultOf(trial, guardFault);
  if (fault === null) return { guard: 'not-yet', actions: [{ do: 'arm-guard', trial, to }], fault: null };
  if (fault.tries >= MAX_GUARD_TRIES && !fault.isFull) return { guard: 'failed', failure: failureOfFault(fault) };
  const actions: readonly Action[] = fault.retryInMs > 0 ? [] : [{ do: 'arm-guard', trial, to }];
  return { guard: 'not-yet', actions, fault: failureOfFault(fault) };
}

/** Why a trial has not begun yet, as far as that is for want of its guard. */
export function whyGuardNotReady({ doing }: State, { guardFault }: Observation): Failure | null {
  const fault = doing.phase === 'trial' && doing.change.step === 'install' ? faultOf(doing, guardFault) : null;
  return fault === null ? null : failureOfFault(fault);
}

/** What was in the way of an earlier trial says nothing of this one. */
const faultOf = (trial: Trial, fault: GuardFault | null): GuardFault | null =>
  fault?.trial === trialIdOf(trial) ? fault : null;

const failureOfFault = ({ message }: GuardFault): Failure => ({
  reason: 'GuardFailed',
  message: `the guard that would take it back without the agent cannot be made ready: ${message}`,
});

/** A guard that took a trial back, with its note. */
export type FiredGuard = Extract<GuardSeen, { guard: 'fired' }>;

/** The guard's own note, if it took back this very trial. */
export function guardFiredOn(trial: Trial, { guard }: Observation): FiredGuard | undefined {
  return guard.guard === 'fired' && guard.trial === trialIdOf(trial) ? guard : undefined;
}

/** The run that the guard started with what it restored, where that is the target. */
export function runStartedByGuard(
  to: Target,
  { guard, service: { run }, bootId }: Observation,
): KubeletRun | undefined {
  const isThere = guard.guard === 'fired' && guard.restarted && guard.to === targetIdOf(to);
  return isThere && run !== null ? { run, bootId } : undefined;
}

/** Why it says nothing of the config that the guard took it back, in words; undefined where the guard saw the kubelet fail. */
export function whyNoVerdict({ cause, starts, at }: FiredGuard): string | undefined {
  const when = at === undefined ? '' : ` at ${at}`;
  if (cause === 'silence') return `nobody watched its trial, so the guard took it back${when} without a verdict`;
  if (cause === 'boots') return `${endedSoon(starts)}, so the guard took it back${when} without a verdict`;
  return cause === 'unknown' ? `the guard took it back${when}, and its note of why is lost` : undefined;
}

const endedSoon = (boots: number): string =>
  `the machine went down in ${boots} boots in a row before the agent gave a sign of life`;

/** Why the guard took a trial back, as the reason that the config is rejected for. */
export function failureOfFiredGuard({ cause, starts, at }: FiredGuard): Failure {
  const when = at === undefined ? '' : ` at ${at}`;
  switch (cause) {
    case 'starts':
      return {
        reason: 'CrashLoop',
        message: `the kubelet was started ${starts} times, and the guard took it back${when}`,
      };
    case 'down':
      return { reason: 'NotHealthy', message: `the kubelet was down for good, and the guard took it back${when}` };
    case 'silence':
      return {
        reason: 'AgentSilent',
        message: `the agent gave no sign of life in any of its trials, and the guard took it back${when}`,
      };
    case 'boots':
      return {
        reason: 'AgentSilent',
        message: `in each of its trials ${endedSoon(starts)}, and the guard took it back${when}`,
      };
    case 'unknown':
      return { reason: 'AgentSilent', message: 'the guard took it back, and its note of why is lost' };
  }
}

/**
 * Keeps the guard in step: reassured while a trial is watched, armed on the way back from it, and disarmed
 * otherwise. What it would restore is always the config that the node falls back to.
 */
export function withGuard(decided: Decision, seen: Observation): Decision {
  const { guard } = seen;
  const decision = { ...decided, actions: [...decided.actions, ...setUpAgain(decided, seen)] };
  if (guard.guard === 'none' || guard.guard === 'disarmed') return decision;
  const { next, actions } = decision;
  if (!belongs(next, guard)) return { ...decision, actions: [{ do: 'disarm-guard' }, ...actions] };
  const isArming = actions.some((action) => action.do === 'arm-guard');
  return guard.guard === 'armed' && !isArming && isInHand(next, seen)
    ? { ...decision, actions: [{ do: 'reassure-guard' }, ...actions] }
    : decision;
}

/** The guard of a trial that is being judged, where somebody took it away: the kubelet may still die of the config. */
function setUpAgain({ next: { doing, lastKnownGood } }: Decision, seen: Observation): readonly Action[] {
  if (doing.phase !== 'trial' || doing.change.step !== 'judge' || seen.guard.guard === 'fired') return [];
  const readiness = guardReadiness(doing, lastKnownGood, seen);
  return readiness.guard === 'not-yet' ? readiness.actions : [];
}

/**
 * Whether the agent gets done what it has to do. One that cannot put files back, or in place over a kubelet that is not
 * healthy (the disk is full), is as good as none: the guard needs no room, and takes the trial back when it has heard
 * nothing for long enough.
 */
function isInHand({ doing }: State, seen: Observation): boolean {
  if (!('change' in doing) || doing.change.step !== 'install') return true;
  return doing.phase === 'trial' && verdictOf(seen).verdict !== 'unhealthy';
}

function belongs({ doing }: State, guard: Extract<GuardSeen, { readonly to: string }>): boolean {
  switch (doing.phase) {
    case 'trial':
      // Another trial's order is replaced by arming for this one.
      return true;
    case 'falling-back': {
      if (guard.guard !== 'armed') return false;
      if (guard.to === targetIdOf(doing.to)) return true;
      // It would lead to what is known to be good, until the kubelet has heard of something better.
      return doing.because !== 'failed' && doing.change.step !== 'judge';
    }
    case 'idle':
    case 'broken':
      return false;
  }
}
