import { LASTING_REFUSALS, type RecordedCommits } from '../../policy/commit-admission/accepted-commits.ts';
import { recordedPolicy } from '../../policy/cluster-policy.ts';
import { readLimits } from '../../policy/commit-limits.ts';
import type { SourceState } from './source-state.ts';

/**
 * What the record says of commits. A refusal that was recorded for another branch or cluster says nothing about this one.
 *
 * @param here what this process follows
 */
export function recordedCommitsOf(
  recorded: SourceState,
  here: Pick<SourceState, 'url' | 'branch' | 'cluster'>,
): RecordedCommits {
  const { commit, refusedCommit, refusedReason, refusedBecause } = recorded;
  const reason = LASTING_REFUSALS.find((each) => each === refusedReason);
  const isAboutHere = recorded.url === here.url && recorded.branch === here.branch && recorded.cluster === here.cluster;
  const { former } = recordedPolicy(recorded.policy, false);
  return {
    inForce: commit === '' ? null : commit,
    ...(commit === '' ? {} : { limits: readLimits(recorded.limits) }),
    ...(commit === '' || former === undefined ? {} : { former }),
    refused: reason === undefined || !isAboutHere ? null : { commit: refusedCommit, reason, message: refusedBecause },
  };
}
