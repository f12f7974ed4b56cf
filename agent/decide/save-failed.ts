import type { Millis } from '#shared/runtime/clock.ts';
import type { Decision } from './decision.ts';
import { sameConfig, type State } from './state.ts';
import type { AgentTiming } from './timing.ts';

/**
 * What may be done of a decision whose state cannot be written to disk. The way back is always free, because an agent
 * that starts from the older state finds it again; so is going on with a trial that is on disk. Everything else waits:
 * a new trial or a promotion that the disk knows nothing of would be gone after a restart.
 *
 * @param faults how often in a row it could not be written: each look costs a request to the API server, so they become rarer
 */
export function afterFailedSave(before: State, decision: Decision, pace: AgentTiming, faults = 1): Decision {
  const { next, actions } = decision;
  const goesBack = next.doing.phase === 'falling-back' || next.doing.phase === 'broken';
  const goesOn =
    before.doing.phase === 'trial' &&
    next.doing.phase === 'trial' &&
    sameConfig(before.doing.config, next.doing.config) &&
    sameConfig(before.assigned, next.assigned);
  if (!goesBack && !goesOn) {
    // A trial, or a way back, that ended well and whose end cannot be written down is still watched, and its guard has to
    // know. A trial that another one was to replace is no longer judged here: that is left to the guard.
    const isWatched = next.doing.phase === 'idle' && before.doing.phase !== 'idle' && before.doing.phase !== 'broken';
    const isGuarded = isWatched && actions.some(({ do: what }) => what.endsWith('-guard'));
    return {
      next: before,
      actions: isGuarded ? [{ do: 'reassure-guard' }] : signsOf(before, actions),
      recheckAfterMs: retryAfter(faults, pace, before.doing.phase === 'idle' ? pace.idleMs : pace.maxStepMs),
    };
  }
  // Its looks cost as much, and what it comes to cannot be written down anyway.
  return goesOn && faults > FEW
    ? { ...decision, recheckAfterMs: Math.max(decision.recheckAfterMs, pace.maxStepMs) }
    : decision;
}

/** An agent that is there after a boot is not absent because the disk is full. */
const signsOf = ({ doing }: State, actions: Decision['actions']): Decision['actions'] =>
  doing.phase === 'idle' ? actions.filter((action) => action.do === 'reassure-guard') : [];

/** So many failures in a row may be a moment's. */
const FEW = 3;

const retryAfter = (faults: number, { changingMs }: AgentTiming, mostMs: Millis): Millis =>
  Math.min(mostMs, changingMs * 2 ** Math.min(Math.max(faults, 1) - 1, 10));
