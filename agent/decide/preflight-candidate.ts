import type { Millis } from '#shared/runtime/clock.ts';
import type { Decision } from './decision.ts';
import type { TriedCandidate } from './process-memory.ts';
import type { Candidate, Observation } from './observation.ts';
import { sameConfig } from './state.ts';

/** @param asked what is to be checked now; @param now monotonic */
export function candidateFromMemory(
  asked: Pick<Candidate, 'config' | 'retry'> | null,
  tried: TriedCandidate | null,
  now: Millis,
): Candidate | null {
  if (asked === null) return null;
  const isKnown = tried !== null && sameConfig(tried.config, asked.config) && tried.retry === asked.retry;
  return { ...asked, result: isKnown ? tried.result : null, retryInMs: isKnown ? tried.retryAt - now : 0 };
}

/**
 * Has a candidate checked while the node is at rest: what the machine will refuse is known before a pod has to leave for it.
 * A check fetches, validates and looks at the machine, and leaves the kubelet alone.
 */
export function withPreflightCheck(decision: Decision, { candidate, leaving }: Observation): Decision {
  if (candidate === null || leaving !== 'no' || decision.next.doing.phase !== 'idle') return decision;
  const { config, retry, result, retryInMs } = candidate;
  if (result !== null && result.outcome !== 'unavailable') return decision;
  if (retryInMs > 0) {
    return { ...decision, recheckAfterMs: Math.min(decision.recheckAfterMs, retryInMs) };
  }
  return { ...decision, actions: [...decision.actions, { do: 'check', config, retry }], recheckAfterMs: 0 };
}
