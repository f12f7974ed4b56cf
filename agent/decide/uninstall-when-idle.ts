import type { Decision } from './decision.ts';
import type { Observation } from './observation.ts';
import type { AgentTiming } from './timing.ts';
import { activeOf } from './state.ts';
import { DEFAULT_TERMS } from './assignment/terms.ts';
import { startFallingBack } from './fall-back.ts';

/** Takes everything of ours away once the node is at rest with its local config, and nothing guards anything. */
export function withUninstall(decision: Decision, { leaving, files, guard }: Observation, pace: AgentTiming): Decision {
  const { next } = decision;
  const isAtRest = next.doing.phase === 'idle' && activeOf(next) === null && next.assigned === null;
  const isUnguarded = guard.guard === 'none' || guard.guard === 'disarmed';
  if (leaving !== 'asked' || !isAtRest) return decision;
  if (isUnguarded && files.files === 'differ') {
    // An agent that lost its records takes a node for its own config's that has ours.
    return startFallingBack(next, null, 'unassigned', DEFAULT_TERMS);
  }
  if (!isUnguarded || files.files !== 'installed') {
    return { ...decision, recheckAfterMs: Math.min(decision.recheckAfterMs, pace.changingMs) };
  }
  // Whatever else was to be done, its traces would go as well.
  return { ...decision, actions: [{ do: 'leave' }] };
}
