import { fromTimestamp } from '#shared/runtime/clock.ts';
import type { ClusterCell, ClusterPicture } from '../policy/following/cluster-picture.ts';
import { waitsForPerson } from '../policy/following/describe-following.ts';
import { settledForMs } from '../policy/following/follows.ts';
import { type FollowingRecord, readFollowing } from '../policy/following/record.ts';
import type { SeenCommit } from '../policy/following/seen-commits.ts';
import { readHistory } from './notes/commit-history.ts';
import type { SourceState } from './notes/source-state.ts';

type Source = Pick<SourceState, 'cluster' | 'commit' | 'subject' | 'takenUpAt' | 'history' | 'following'>;

/** What a cluster that follows others knows of commits, by its record; null for one that follows none. Of itself: since when they are in force. */
export function recordedPicture(source: Source): ClusterPicture | null {
  const followed = readFollowing(source.following) ?? null;
  if (followed === null) return null;
  const { clusters } = followed.follows;
  const rows = followed.seen.map((commit, index) => {
    const others = clusters.flatMap((cluster) => {
      const cell = followedCell(cluster, commit, index === 0, followed);
      return cell === undefined ? [] : [[cluster, cell] as const];
    });
    const own = ownCell(commit, source, followed);
    return {
      oid: commit.oid,
      subject: commit.subject || (commit.oid === source.commit ? source.subject : ''),
      cells: new Map<string, ClusterCell>([[source.cluster, own], ...others]),
    };
  });
  return { clusters: [source.cluster, ...clusters], rows };
}

function ownCell({ oid }: SeenCommit, { commit, takenUpAt, history }: Source, record: FollowingRecord): ClusterCell {
  const past = readHistory(history).find((each) => each.oid === oid);
  if (past !== undefined) return { is: 'said', note: past.outcome, since: fromTimestamp(past.at) };
  // So many were refused since that the record of the last commits no longer has it.
  if (oid === commit) return { is: 'said', note: 'in force', since: fromTimestamp(takenUpAt) };
  const since = record.candidates.find((each) => each.oid === oid)?.since;
  const isDue = since !== undefined && !waitsForPerson(record, oid);
  return { is: 'waiting', dueAt: isDue ? since + settledForMs(record.follows) : undefined };
}

/** Of the tip, a cluster that says nothing of it is silent for as long as it said nothing new. */
function followedCell(
  cluster: string,
  { said }: SeenCommit,
  isTip: boolean,
  { silent }: FollowingRecord,
): ClusterCell | undefined {
  const found = said.find((each) => each.cluster === cluster);
  if (found !== undefined) return { is: 'said', note: found.note, since: found.since };
  const quiet = isTip ? silent.find((each) => each.cluster === cluster) : undefined;
  return quiet === undefined ? undefined : { is: 'silent', since: quiet.since };
}
