import type { Decision } from './decision.ts';
import type { Observation } from './observation.ts';
import type { State } from './state.ts';
import type { Pace } from './pace.ts';
import { startTrialOver } from './trial.ts';

/**
 * A node at rest, whose files or whose kubelet somebody else may have changed.
 *
 * - Files that the kubelet has not read yet are put back, and nothing is restarted.
 * - Where the kubelet was started with other files, or the node's own config was provisioned anew, the whole was never
 *   tried in this form: it has to prove itself again, and the way back leads to local.
 * - What was installed properly and runs otherwise all the same (a flag on the command line) no restart would mend.
 */
export function restOrRepair(state: State, seen: Observation, pace: Pace): Decision {
  const rest: Decision = {
    next: state,
    actions: seen.first ? [{ do: 'collect-garbage' }] : [],
    recheckAfterMs: pace.idleMs,
  };
  const config = state.lastKnownGood;
  if (config === null || seen.repair.repair !== 'ready') return rest;
  const isStale = !seen.startedAsInstalled && seen.running.running !== 'as-meant';
  if (isStale || seen.repair.newBase) return startTrialOver(state, config, seen);
  if (seen.files.files !== 'differ') return rest;
  return { ...rest, actions: [...rest.actions, { do: 'repair', target: config }], recheckAfterMs: pace.changingMs };
}

/** Whether anything on the node is not as it was left. */
export function hasDrifted({ files, running }: Pick<Observation, 'files' | 'running'>): boolean {
  return files.files === 'differ' || running.running === 'contradicts';
}
