import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_PROBATION, FULL_PROBATION, TRIAL_IN_PROBATIONS } from '#shared/contract/api/probation.ts';
import { formatDuration, parseDuration } from '#shared/runtime/duration.ts';
import type { FileReport } from './file-report.ts';
import type { TrialLimits } from './loaded-repo.ts';

/**
 * Whether the trials of a pool can judge a config: a trial of a moment proves nothing, and one that waits for a kubelet all day takes
 * nothing back. Each has to keep to the cluster's limits, and to those before the commit.
 *
 * @param limits of the cluster's file, and of the one in the commit before where there is one
 * @param file   the cluster's, for people
 */
export function checkTrial(
  { rollout, trial }: Pick<KubeletPoolSpec, 'rollout' | 'trial'>,
  limits: readonly TrialLimits[],
  file: string,
  report: FileReport,
): void {
  const leastMs = Math.max(...limits.map(({ minDuration }) => parseDuration(minDuration) ?? 0));
  const mostMs = Math.min(...limits.map(({ maxStartTimeout }) => parseDuration(maxStartTimeout) ?? 0));
  const elsewhere = (key: string): string => `or set trial.${key} in ${file}, in a commit of its own before`;
  const atLeast = (path: readonly string[], value: string | undefined, least: number, why = ''): void => {
    if (value === undefined || (parseDuration(value) ?? least) >= least) return;
    const asks = formatDuration(least);
    const message = `spec.${path.join('.')} is ${value}, and has to be at least ${asks}${why}`;
    report.error('out-of-range', ['spec', ...path], message, `write ${asks} or more, ${elsewhere('minDuration')}`);
  };
  atLeast(['trial', 'duration'], trial.duration, leastMs);
  atLeast(['trial', 'durationAfterCanary'], trial.durationAfterCanary, leastMs);
  const { probation = DEFAULT_PROBATION } = rollout;
  const why = `: trials after the canaries take ${TRIAL_IN_PROBATIONS} times as long`;
  if (probation !== FULL_PROBATION)
    atLeast(['rollout', 'probation'], probation, Math.ceil(leastMs / TRIAL_IN_PROBATIONS), why);
  if ((parseDuration(trial.startTimeout) ?? 0) <= mostMs) return;
  const most = formatDuration(mostMs);
  const message = `spec.trial.startTimeout is ${trial.startTimeout}, and has to be at most ${most}`;
  const advice = `write ${most} or less, ${elsewhere('maxStartTimeout')}`;
  report.error('out-of-range', ['spec', 'trial', 'startTimeout'], message, advice);
}
