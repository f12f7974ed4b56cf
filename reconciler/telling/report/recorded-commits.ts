import { LASTING, type RecordedCommits } from '../../policy/in-force/take-up.ts';
import type { SourceState } from './source-state.ts';

/**
 * What the record says of commits. A refusal that was recorded for another branch or cluster says nothing about this one.
 *
 * @param here what this process follows
 */
export function commitsOf(
  recorded: SourceState,
  here: Pick<SourceState, 'url' | 'branch' | 'cluster'>,
): RecordedCommits {
  const { commit, refusedCommit, refusedReason, refusedBecause } = recorded;
  const reason = LASTING.find((each) => each === refusedReason);
  const isAboutHere = recorded.url === here.url && recorded.branch === here.branch && recorded.cluster === here.cluster;
  return {
    inForce: commit === '' ? null : commit,
    refused: reason === undefined || !isAboutHere ? null : { commit: refusedCommit, reason, message: refusedBecause },
  };
}
