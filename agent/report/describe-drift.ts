import type { Drift } from '../decide/drift.ts';
import type { Failure } from '../decide/failure.ts';
import { firstPhrases } from '../decide/first-phrases.ts';
import type { Observation } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';
import { restartNeeded } from '../decide/restart-turn.ts';

/** Drift in a sentence, and why it is not repaired; undefined where there is none. */
export function describeDrift(state: State, seen: Observation, drift: Drift): string | undefined {
  if (drift.drift === 'base-refused') return state.refusedBase?.message;
  const what = driftIn(seen) ?? restartNeeded(state, seen)?.message;
  if (what === undefined) return undefined;
  const refusal = refusalIn(drift);
  if (refusal !== undefined) {
    return `${what}; it is not put back, because it would not do any more: ${refusal.message}`;
  }
  return drift.drift === 'paused'
    ? `${what}; it was put back ${drift.times} times within the hour, and now is left as it is`
    : what;
}

/** What differs from what the agent left there, in words. */
function driftIn({ files, running }: Pick<Observation, 'files' | 'running'>): string | undefined {
  if (files.files === 'differ') {
    const { path = 'a managed file', differences = [] } = files;
    const fields = differences.length === 0 ? '' : ` (${firstPhrases(differences)})`;
    return `${path} on the node is not what was installed${fields}`;
  }
  return running.running === 'contradicts' ? `the kubelet runs ${firstPhrases(running.differences)}` : undefined;
}

/** The last refusal still counts while the config is checked again. */
function refusalIn(drift: Drift): Failure | undefined {
  if (drift.drift === 'refused') return drift.failure;
  return drift.drift === 'unchecked' && drift.before?.outcome === 'refused' ? drift.before.failure : undefined;
}

/** Whether it ends without a person, as far as the agent knows: it is about to, or the node has its turn before long. */
export const willBeRepaired = (drift: Drift): boolean =>
  drift.drift === 'awaits-turn' || drift.drift === 'checked' || (drift.drift === 'unchecked' && drift.before === null);
