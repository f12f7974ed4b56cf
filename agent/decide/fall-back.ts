import type { NodeError } from '#shared/contract/api/kubelet-node.ts';
import type { Decision } from './decision.ts';
import { toNodeError } from './node-error.ts';
import type { Failure } from './failure.ts';
import type { Observation } from './observation.ts';
import {
  type Change,
  becomeIdle,
  type Config,
  type FallingBack,
  type KubeletRun,
  nameOf,
  type State,
  type Target,
  type TrialTerms,
  withoutRejected,
  withRejected,
} from './state.ts';
import { advanceChange } from './change.ts';
import { runStartedByGuard, targetIdOf } from './trial-guard.ts';
import { failureOf, startHealthTally, tallySteadiness, type Verdict, verdictOf } from './health-verdict.ts';
import { whyNotStarted } from './kubelet-start.ts';
import type { AgentTiming } from './timing.ts';

/**
 * Starts the way back to a config that needs no trial: lastKnownGood or local.
 *
 * @param running a run of the kubelet that has it already
 */
export function startFallingBack(
  state: State,
  to: Target,
  because: FallingBack['because'],
  terms: TrialTerms,
  running?: KubeletRun,
): Decision {
  const change: Change = { step: 'install', ...(running === undefined ? {} : { running }) };
  const doing: FallingBack = { phase: 'falling-back', to, because, terms, change };
  return { next: { ...state, doing }, actions: [{ do: 'install', target: to }], recheckAfterMs: 0 };
}

/** Goes on until the kubelet is steadily healthy; from lastKnownGood on to local, and from there to `broken`. */
export function continueFallingBack(state: State, doing: FallingBack, seen: Observation, pace: AgentTiming): Decision {
  const { to, terms } = doing;
  const step = advanceChange(
    isUndone(doing, seen) ? { step: 'install' } : withGuardsRun(doing, seen),
    seen,
    // There is nowhere else to go: it is tried until it can be done.
    { target: to, terms, because: becauseOf(doing, state), mayFail: false },
    pace,
  );
  const recheckAfterMs = Math.min(pace.changingMs, seen.pollMs);
  if (step.advance === 'stuck') return giveUp(state, doing, step.failure, seen);
  if (step.advance === 'going') {
    const next = { ...state, doing: { ...doing, change: step.change } };
    return { next, actions: step.actions, recheckAfterMs: step.moved ? 0 : recheckAfterMs };
  }
  // What was proven is not given up before a kubelet has read it, and there is nothing to go back to that would start one.
  const why = seen.health.health === 'ok' ? undefined : whyNotStarted(seen);
  const verdict: Verdict = why === undefined ? verdictOf(seen) : { verdict: 'unclear', why };
  const judged = tallySteadiness(step.judged, verdict, seen, pace.maxStepMs);
  const failure = failureOf(judged, verdict, seen, terms, pace);
  if (failure !== undefined) return giveUp(state, doing, failure, seen);
  // The Node of a kubelet that has just started gets the time to be Ready that it had in the trial.
  const outage = outageIn(state, doing, seen);
  const enoughMs = outage === undefined ? pace.steadyMs : Math.max(pace.steadyMs, terms.startTimeoutMs);
  if (judged.healthyMs >= enoughMs) {
    const settled = settle(state, doing, pace);
    return outage === undefined ? settled : { ...settled, next: unblamed(settled.next, outage, to, seen) };
  }
  return { next: { ...state, doing: { ...doing, change: { step: 'judge', judged } } }, actions: [], recheckAfterMs };
}

interface Outage {
  readonly config: Config;
  readonly error: NodeError;
}

/** What the config was blamed for is so without it, too: the Node is as NotReady as it was with it. */
function outageIn(
  { assigned: config, error, rejected }: State,
  { because }: FallingBack,
  { nodeReady }: Observation,
): Outage | undefined {
  if (because !== 'failed' || nodeReady !== 'no' || config === null || error === null) return undefined;
  const blamed = rejected.at(-1);
  const isBlamed =
    blamed?.reason === 'NodeNotReady' && blamed.at === error.at && blamed.sha256 === config.source.sha256;
  return isBlamed ? { config, error } : undefined;
}

function unblamed(state: State, { config, error }: Outage, to: Target, seen: Observation): State {
  const message = `${error.message}. But its Node is not Ready with ${nameOf(to)} either, so it is tried again when it is`;
  const outage = toNodeError({ reason: 'UnhealthyBefore', message }, config, seen.at, error);
  return withRejected({ ...withoutRejected(state, config), error: outage }, config, outage);
}

/** The guard led the node somewhere else meanwhile. */
function isUndone({ to }: FallingBack, { guard }: Observation): boolean {
  return guard.guard === 'fired' && guard.to !== targetIdOf(to);
}

/** The guard fell back to the same config while the agent was away, and started the kubelet with it. */
function withGuardsRun({ to, change }: FallingBack, seen: Observation): Change {
  const running = change.step === 'install' ? runStartedByGuard(to, seen) : undefined;
  return running === undefined ? change : { step: 'install', running };
}

function becauseOf({ to, because }: FallingBack, state: State): string {
  switch (because) {
    case 'failed':
      return `back to ${nameOf(to)}: ${state.error?.reason ?? 'the config on trial failed'}`;
    case 'unassigned':
      return 'back to local: no config is assigned any more';
    case 'superseded':
      return `back to ${nameOf(to)}: it is assigned again`;
    case 'drifted':
      return `back to ${nameOf(to)}: the kubelet ran something else, and this is its turn`;
  }
}

/** The kubelet is back. What it fell back to is what it runs, and so what is good. */
function settle(state: State, { to, because }: FallingBack, pace: AgentTiming): Decision {
  const next: State = {
    ...becomeIdle(state, to),
    promotedAt: to === null ? null : state.promotedAt,
    ...(because === 'unassigned' ? { assigned: null, error: null } : {}),
    // An agent that died while it wrote that down may have left the one before in its place.
    ...(because === 'superseded' ? { assigned: to } : {}),
  };
  return { next, actions: [{ do: 'collect-garbage' }], recheckAfterMs: pace.idleMs };
}

function giveUp(state: State, doing: FallingBack, failure: Failure, seen: Observation): Decision {
  const { to, because, terms } = doing;
  const config = state.assigned ?? undefined;
  if (to !== null) {
    const before = state.error === null ? '' : `${state.error.message}. Then `;
    const message = `${before}${to.source.name}, the last known good config, failed too: ${failure.message}`;
    const error = toNodeError({ reason: 'FallbackFailed', message }, config, seen.at, state.error);
    return startFallingBack({ ...state, lastKnownGood: null, promotedAt: null, error }, null, because, terms);
  }
  // What is to be done comes before what led to it.
  const history = state.error === null ? '' : `. Before that: ${state.error.message}`;
  const message = `the kubelet fails with every config, the node's own included: ${failure.message}. Look at its log on the node${history}`;
  const error = toNodeError({ reason: 'KubeletBroken', message }, config, seen.at, state.error);
  const judged = startHealthTally(seen);
  const next: State = {
    ...state,
    lastKnownGood: null,
    promotedAt: null,
    error,
    doing: { phase: 'broken', judged, waitedMs: 0 },
  };
  return { next, actions: [], recheckAfterMs: 0 };
}
