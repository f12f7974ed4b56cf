import { sameConfig, type State } from '../decide/state.ts';

/** How trials on this node ended since the agent started, and why configs were taken back. */
export interface Counts {
  readonly trials: Readonly<Record<TrialEnd, number>>;
  /** By the reason of the error. */
  readonly fallbacks: Readonly<Record<string, number>>;
}

/** `superseded`: another config was assigned, or none, before it could prove itself. */
type TrialEnd = 'promoted' | 'failed' | 'superseded';

export const NO_COUNTS: Counts = { trials: { promoted: 0, failed: 0, superseded: 0 }, fallbacks: {} };

/** The counts after one turn of the agent, from the state before and after it. Pure. */
export function countDecision(counts: Counts, before: State, after: State): Counts {
  const ended = trialEnd(before, after);
  if (ended === undefined) return counts;
  const trials = { ...counts.trials, [ended]: counts.trials[ended] + 1 };
  if (ended !== 'failed') return { ...counts, trials };
  const reason = after.error?.reason ?? 'Unknown';
  return { trials, fallbacks: { ...counts.fallbacks, [reason]: (counts.fallbacks[reason] ?? 0) + 1 } };
}

function trialEnd({ doing: before }: State, { doing, lastKnownGood, error }: State): TrialEnd | undefined {
  if (before.phase !== 'trial') return undefined;
  switch (doing.phase) {
    case 'trial':
      return sameConfig(before.config, doing.config) ? undefined : 'superseded';
    case 'idle':
      if (sameConfig(lastKnownGood, before.config)) return 'promoted';
      return error === null ? 'superseded' : 'failed';
    case 'falling-back':
      return doing.because === 'failed' ? 'failed' : 'superseded';
    case 'broken':
      return 'failed';
  }
}
