import type { Drift } from '../decide/drift.ts';
import type { Failure } from '../decide/failure.ts';
import { firstOf } from '../decide/first-of.ts';
import type { Observation } from '../decide/observation.ts';

/** Drift in a sentence, and why it is not repaired; undefined where there is none. */
export function sayDrift({ files, running }: Observation, drift: Drift): string | undefined {
  const what = driftIn({ files, running });
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
export function driftIn({ files, running }: Pick<Observation, 'files' | 'running'>): string | undefined {
  if (files.files === 'differ') return `${files.path ?? 'a managed file'} on the node is not what was installed`;
  return running.running === 'contradicts' ? `the kubelet runs ${firstOf(running.differences)}` : undefined;
}

/** The last refusal still counts while the config is checked again. */
function refusalIn(drift: Drift): Failure | undefined {
  if (drift.drift === 'refused') return drift.failure;
  return drift.drift === 'unchecked' && drift.before?.outcome === 'refused' ? drift.before.failure : undefined;
}

/** Whether the agent is about to repair it, as far as it knows. */
export const isToBeRepaired = (drift: Drift): boolean =>
  drift.drift === 'checked' || (drift.drift === 'unchecked' && drift.before === null);
