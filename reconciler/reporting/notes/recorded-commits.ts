import {
  LASTING_REFUSALS,
  type RecordedCommits,
  type RefusedCommit,
} from '../../policy/commit-admission/accepted-commits.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { recordedPolicy } from '../../policy/cluster-policy.ts';
import { readLimits } from '../../policy/commit-limits.ts';
import type { SourceState } from './source-state.ts';

/**
 * What the record says of commits. A refusal that was recorded for another branch or cluster says nothing about this one.
 *
 * @param here  what this process follows
 * @param ended  the commit that the process before was reading when it ended without notice; '' for none
 */
export function recordedCommitsOf(
  recorded: SourceState,
  here: Pick<SourceState, 'url' | 'branch' | 'cluster'>,
  ended = '',
): RecordedCommits {
  const { commit, refusedCommit, refusedReason, refusedBecause } = recorded;
  const reason = LASTING_REFUSALS.find((each) => each === refusedReason);
  const isAboutHere = recorded.url === here.url && recorded.branch === here.branch && recorded.cluster === here.cluster;
  const before = reason === undefined ? null : { commit: refusedCommit, reason, message: refusedBecause };
  // What was in force already was read before.
  const refused = ended === '' || ended === commit ? before : endedBy(ended);
  const { former } = recordedPolicy(recorded.policy, false);
  return {
    inForce: commit === '' ? null : commit,
    ...(commit === '' ? {} : { limits: readLimits(recorded.limits) }),
    ...(commit === '' || former === undefined ? {} : { former }),
    refused: isAboutHere ? refused : null,
  };
}

const endedBy = (commit: CommitOid): RefusedCommit => ({
  commit,
  reason: 'ended-the-reconciler',
  message:
    'a reconciler ended without notice while it read it, so it is not read again. ' +
    'If the commit is not to blame, push another one, which may be empty (git commit --allow-empty)',
});
