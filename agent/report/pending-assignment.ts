import type { Observation } from '../decide/observation.ts';
import { activeOf, nameOf, sameConfig, type State } from '../decide/state.ts';
import { turnNeeded } from '../decide/restart-turn.ts';
import type { Pending } from './kstatus-conditions.ts';

/**
 * What is assigned and does not run, whatever the reason: as long as that is so, the assignment is not done.
 * One that was rejected has an error, which says more; what is not rejected any more is as good as new.
 */
export function pendingAssignment(state: State, seen: Observation): Pending | null {
  const { intent } = seen;
  if (intent.intent !== 'config' && intent.intent !== 'local') return null;
  const wanted = intent.intent === 'config' ? intent.config : null;
  if (state.doing.phase !== 'idle' || sameConfig(wanted, activeOf(state))) return null;
  const awaited = turnNeeded(state, seen);
  return awaited?.reason === 'StateLost'
    ? { reason: 'AwaitsTurn', message: awaited.message }
    : { reason: 'NotTakenUp', message: `${nameOf(wanted)} is not taken up yet; ${nameOf(activeOf(state))} runs` };
}
