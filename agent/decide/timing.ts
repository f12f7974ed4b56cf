import { STEADY_MS } from '#shared/contract/api/probation.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** The agent's own sense of time; what concerns a config is in its trial terms. */
export interface AgentTiming {
  /** Between two looks while nothing is being changed. */
  readonly idleMs: Millis;
  /** Between two looks during a change. */
  readonly changingMs: Millis;
  /** Of a longer gap between two looks, only so much counts: what happened in it is unknown. */
  readonly maxStepMs: Millis;
  /** Healthy time after which a kubelet counts as back after a fallback. */
  readonly steadyMs: Millis;
  /** How long a kubelet may run something else than was meant. Short, because no waiting fixes that. */
  readonly contradictedMs: Millis;
  /** How long a trial waits for a server without which the kubelet cannot start. */
  readonly outageMs: Millis;
  /** First pause before a restart is ordered again that could not be carried out; doubles up to the next. */
  readonly restartRetryMs: Millis;
  readonly maxRestartRetryMs: Millis;
  /** How often a kubelet that stays down with every config is started all the same. */
  readonly brokenRestartMs: Millis;
}

export const DEFAULT_TIMING: AgentTiming = {
  idleMs: 60_000,
  changingMs: 5_000,
  maxStepMs: 15_000,
  steadyMs: STEADY_MS,
  contradictedMs: 15_000,
  outageMs: 30 * 60_000,
  restartRetryMs: 30_000,
  maxRestartRetryMs: 10 * 60_000,
  brokenRestartMs: 10 * 60_000,
};
