import type { TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_PROBATION, FULL_PROBATION, TRIAL_IN_PROBATIONS } from '#shared/contract/api/probation.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { formatDuration, parseDuration } from '#shared/runtime/duration.ts';

/** How long a node on trial has to be Ready and healthy before another takes its place; null where it keeps the place to its end. */
export function probationOf({ probation = DEFAULT_PROBATION }: Pick<RolloutSpec, 'probation'>): Millis | null {
  return probation === FULL_PROBATION ? null : (parseDuration(probation) ?? parseDuration(DEFAULT_PROBATION) ?? null);
}

/** The trials of a pool's nodes, as each of them is told. */
export interface PoolTrials {
  /** Of the canaries, and of everybody until they have proven the payload. */
  readonly full: TrialSpec;
  /** Of those that begin afterwards; never longer. */
  readonly afterCanary: TrialSpec;
}

export function trialTermsOf({ rollout, trial }: Pick<KubeletPoolSpec, 'rollout' | 'trial'>): PoolTrials {
  const { durationAfterCanary, ...full } = trial;
  const probationMs = probationOf(rollout);
  if (probationMs === null) return { full, afterCanary: full };
  const longest = parseDuration(full.duration) ?? 0;
  const wanted = parseDuration(durationAfterCanary ?? '') ?? TRIAL_IN_PROBATIONS * probationMs;
  return { full, afterCanary: wanted >= longest ? full : { ...full, duration: formatDuration(wanted) } };
}
