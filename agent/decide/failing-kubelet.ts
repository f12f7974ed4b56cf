import { PROVEN_CONFIG_FAILS } from '#shared/contract/api/kubelet-node.ts';
import type { Decision } from './decision.ts';
import { verdictOf } from './health-verdict.ts';
import { toNodeError } from './node-error.ts';
import type { Observation } from './observation.ts';
import { errorOf, nameOf, rejectionOf, type State } from './state.ts';
import type { AgentTiming } from './timing.ts';

/** Whether the node says so of itself. */
export const isFailing = ({ doing, error }: State): boolean =>
  doing.phase === 'idle' && error?.reason === PROVEN_CONFIG_FAILS;

/**
 * What a node at rest says whose kubelet keeps ending, as it does after an upgrade to a version that refuses a gate it had. A proven
 * config is not given up: something else on the node may be wrong. It ends by itself when the kubelet is healthy again.
 */
export function withFailingKubelet(before: State, decision: Decision, seen: Observation, pace: AgentTiming): Decision {
  const { next } = decision;
  const config = next.lastKnownGood;
  const wasFailing = isFailing(before);
  if (next.doing.phase !== 'idle' || config === null) return decision;
  const verdict = verdictOf(seen);
  const ends = seen.ends ?? 0;
  const keepsEnding = ends > config.trial.maxRestarts || seen.downMs >= pace.contradictedMs;
  // What has yet to start it ended without one: no kubelet refused the config.
  const hasKubelet = seen.starter === undefined;
  const isWell = verdict.verdict === 'healthy' && ends === 0;
  const recheckAfterMs = ends > 0 || wasFailing ? Math.min(decision.recheckAfterMs, pace.maxStepMs) : undefined;
  const onward = recheckAfterMs === undefined ? decision : { ...decision, recheckAfterMs };
  if (wasFailing && before.error?.config === nameOf(config)) {
    // What is wrong with an assignment beside it is worth more; a look at one that is right takes no error away.
    if (next.error !== null && next.error !== before.error) return onward;
    if (!isWell) return next.error === before.error ? onward : { ...onward, next: { ...next, error: before.error } };
    const rejected = next.assigned === null ? undefined : rejectionOf(next, next.assigned);
    return { ...onward, next: { ...next, error: rejected === undefined ? null : errorOf(rejected) } };
  }
  if (next.error !== null || verdict.verdict !== 'unhealthy' || !keepsEnding || !hasKubelet) return onward;
  const count = ends > 0 ? `ended ${ends} times by itself` : 'is down for good';
  const version = seen.kubeletVersion === undefined ? '' : `; its Node says ${seen.kubeletVersion}`;
  const message =
    `the kubelet ${count} with ${nameOf(config)}, which it had proven: ${verdict.why}${version}. If it was upgraded and refuses the ` +
    'config, commit one that it accepts, or revert, with rollout.notReadyNodes: change (docs/upgrade.md#after-a-kubelet-upgrade)';
  const error = toNodeError({ reason: PROVEN_CONFIG_FAILS, message }, config, seen.at, null);
  return { ...onward, next: { ...next, error } };
}
