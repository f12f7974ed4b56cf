import type { Millis } from '#shared/runtime/clock.ts';
import type { CommitOid } from '../commit-snapshot.ts';
import type { FollowingLook, SeenNote, Waiting } from './choose-commit.ts';

/** What followed clusters say of one commit. For people: nothing is decided by it. */
export interface SeenCommit {
  readonly oid: CommitOid;
  readonly subject: string;
  /** Since when each says so, by our own clock. */
  readonly said: readonly { readonly cluster: string; readonly note: SeenNote; readonly since: Millis }[];
}

/** Each can have a word of every followed cluster. */
export const MOST_SEEN = 8;

/**
 * The commits that a person asks for: the tip, the one that comes next, the newest that each cluster speaks of, and the one in force. The
 * newest first.
 *
 * @param before as the last look left them
 */
export function seenCommits(
  { inForce, line, clusters, notes, now }: Pick<FollowingLook, 'inForce' | 'line' | 'clusters' | 'notes' | 'now'>,
  waiting: Waiting,
  before: readonly SeenCommit[],
): readonly SeenCommit[] {
  const named = new Set([line.at(-1)?.oid, waiting.next?.oid, ...waiting.clusters.map(({ newest }) => newest?.oid)]);
  const ahead = line.filter(({ oid }) => named.has(oid)).toReversed();
  return [...ahead.slice(0, MOST_SEEN - 1), inForce].map(({ oid, subject = '' }) => {
    const known = before.find((each) => each.oid === oid)?.said ?? [];
    const said = clusters.flatMap((cluster) => {
      const last = known.find((each) => each.cluster === cluster);
      const seen = notes.get(cluster) ?? null;
      // What cannot be read just now has not changed, as far as is known.
      const note = seen === null ? last?.note : seen.get(oid);
      if (note === undefined) return [];
      return [{ cluster, note, since: last?.note === note ? Math.min(last.since, now) : now }];
    });
    return { oid, subject, said };
  });
}
