import { RUNNING_CONFIG_SEEN, type UnseenReason } from '#shared/contract/api/running-config-seen.ts';
import type { Drift } from '../decide/drift.ts';
import { isFailing } from '../decide/failing-kubelet.ts';
import { firstPhrases } from '../decide/first-phrases.ts';
import { verdictOf } from '../decide/health-verdict.ts';
import type { ConfigVisibility } from '../decide/observation.ts';
import { activeOf, nameOf } from '../decide/state.ts';
import type { PlainCondition } from './kstatus-conditions.ts';
import { describeDrift } from './describe-drift.ts';
import type { StatusFacts } from './status-facts.ts';
import { unknownActive } from '../decide/unknown-active.ts';

/** Whether the kubelet does well with the config that it has: what an alert wants to know of a node. */
export function healthOf({ state, seen }: StatusFacts, drift: Drift): PlainCondition {
  const type = 'KubeletConfigHealthy';
  const name = nameOf(activeOf(state));
  const verdict = verdictOf(seen);
  const why = verdict.verdict === 'unhealthy' ? verdict.why : '';
  const stopped = verdict.verdict === 'unclear' ? verdict.why : undefined;
  if (state.doing.phase === 'broken') {
    const message = state.error?.message ?? 'the kubelet is healthy with none of its configs';
    return { type, status: 'False', reason: 'Broken', message };
  }
  if (state.doing.phase !== 'idle') {
    const reason = state.doing.phase === 'trial' ? 'OnTrial' : 'FallingBack';
    const aside = stopped ?? (why === '' ? undefined : `the kubelet is not healthy: ${why}`);
    const message = `${name} has yet to prove itself${aside === undefined ? '' : `; ${aside}`}`;
    return { type, status: 'Unknown', reason, message };
  }
  if (why !== '') return { type, status: 'False', reason: 'NotHealthy', message: `the kubelet is not healthy: ${why}` };
  if (stopped !== undefined) return { type, status: 'Unknown', reason: 'KubeletStopped', message: stopped };
  const unknown = unknownActive(state, seen);
  if (unknown !== undefined) return { type, status: 'Unknown', reason: 'StateLost', message: unknown.message };
  const drifted = describeDrift(state, seen, drift);
  if (drifted !== undefined) return { type, status: 'False', reason: 'Drifted', message: drifted };
  if (verdict.verdict === 'healthy') {
    const { sight } = seen;
    const message =
      sight.sight === 'seen' || activeOf(state) === null
        ? `it runs ${name}`
        : `it was started with ${name}; what it runs was not seen: ${sight.why}`;
    return { type, status: 'True', reason: 'Healthy', message };
  }
  return { type, status: 'Unknown', reason: 'NotSeen', message: 'the kubelet cannot be seen' };
}

const UNSEEN: Readonly<Record<Exclude<ConfigVisibility['sight'], 'seen'>, UnseenReason>> = {
  forbidden: 'Forbidden',
  untrusted: 'Untrusted',
  off: 'SwitchedOff',
  'not-yet': 'NotYet',
  unreachable: 'Unreachable',
};

/** Whether anybody has seen what the kubelet runs: without that, a healthy kubelet proves little of a config. */
export function visibilityOf({ state, seen: { sight } }: StatusFacts): PlainCondition {
  const type = RUNNING_CONFIG_SEEN;
  // What was seen of an earlier run says nothing of one that keeps ending.
  if (isFailing(state)) {
    const message = 'the kubelet keeps ending, so nobody sees what it runs';
    return { type, status: 'False', reason: UNSEEN.unreachable, message };
  }
  if (sight.sight === 'seen') return { type, status: 'True', reason: 'Seen', message: 'the kubelet says what it runs' };
  const status = sight.sight === 'unreachable' || sight.sight === 'not-yet' ? 'Unknown' : 'False';
  return { type, status, reason: UNSEEN[sight.sight], message: sight.why };
}

/** Whether the agent could start again, on this or after the next boot, and know where the node stands. */
export function storageOf({ diskProblems, state, seen: { files, staged } }: StatusFacts): PlainCondition {
  const type = 'CheckpointsIntact';
  const unknown = unknownActive(state, { files });
  const failure = staged?.outcome === 'unavailable' ? staged.failure : undefined;
  const problems = [
    ...diskProblems,
    ...(files.files === 'lost' || (files.files === 'blocked' && files.isLocalLost === true) ? [files.message] : []),
    ...(unknown?.needsPerson === false ? [unknown.message] : []),
    ...(failure?.reason === 'CheckpointFailed' ? [failure.message] : []),
  ];
  if (problems.length === 0) {
    return { type, status: 'True', reason: 'Intact', message: 'the state directory is in order' };
  }
  return { type, status: 'False', reason: 'Damaged', message: firstPhrases(problems) };
}

/** Whether a guard can take a trial back when the agent cannot. */
export function guardOf({ state, seen: { guard, guardFault } }: StatusFacts): PlainCondition {
  const type = 'Guarded';
  if (guard.guard === 'none') return { type, status: 'False', reason: 'NoGuard', message: guard.why };
  if (guardFault !== null) return { type, status: 'False', reason: 'GuardFailed', message: guardFault.message };
  return state.doing.phase === 'trial'
    ? { type, status: 'True', reason: 'Armed', message: 'the guard takes the trial back if the agent cannot' }
    : { type, status: 'True', reason: 'Ready', message: 'the guard is set up for every trial' };
}
