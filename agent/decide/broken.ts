import type { Decision } from './decision.ts';
import type { Observation } from './observation.ts';
import { becomeIdle, type Doing, errorOf, rejectionOf, type State } from './state.ts';
import { tallySteadiness, verdictOf } from './health-verdict.ts';
import type { AgentTiming } from './timing.ts';

type Broken = Extract<Doing, { phase: 'broken' }>;

/**
 * Every config failed, local included, so something else is wrong with the node. Watches whether the kubelet comes back
 * by other means, and starts it now and then where the service manager has given up on it.
 */
export function watchBroken(state: State, before: Broken, seen: Observation, pace: AgentTiming): Decision {
  const verdict = verdictOf(seen);
  const judged = tallySteadiness(before.judged, verdict, seen, pace.maxStepMs);
  if (judged.healthyMs >= pace.steadyMs) {
    const well = becomeIdle(state, null);
    const rejected = state.assigned === null ? undefined : rejectionOf(state, state.assigned);
    const error = rejected === undefined ? null : errorOf(rejected);
    return {
      next: { ...well, promotedAt: null, error },
      actions: [{ do: 'collect-garbage' }],
      recheckAfterMs: pace.idleMs,
    };
  }
  const isDown = verdict.verdict === 'unhealthy' && ['stopped', 'failed'].includes(seen.service.state);
  const waitedMs = isDown ? before.waitedMs + Math.min(seen.elapsedMs, pace.maxStepMs) : 0;
  const start = waitedMs >= pace.brokenRestartMs;
  // Only what a later decision reads is counted: this state goes to disk whenever it changes. So no lapse is a short one here.
  const healthyMs = verdict.verdict === 'healthy' ? judged.healthyMs : 0;
  const doing: Broken = {
    phase: 'broken',
    judged: { ...judged, healthyMs, restarts: 0, unhealthyMs: 0 },
    waitedMs: start ? 0 : waitedMs,
  };
  return {
    next: { ...state, doing },
    actions: start
      ? [{ do: 'restart-kubelet', because: 'it is down with every config, local included: once more', target: null }]
      : [],
    recheckAfterMs: Math.min(verdict.verdict === 'healthy' ? pace.changingMs : pace.maxStepMs, seen.pollMs),
  };
}
