import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { commitReference } from '../../policy/commit-reference.ts';
import { followingStanding, longSilences, waitsForPerson } from '../../policy/following/describe-following.ts';
import { type FollowingRecord, readFollowing } from '../../policy/following/record.ts';
import { runbookOf } from '../../policy/runbook.ts';
import type { SourceState } from '../notes/source-state.ts';
import type { Notification, Occurrence } from './notification.ts';

/** What there is to tell of a cluster that follows others: for whom it waits, who says nothing, what a person let through. Pure. */
export function followingOccurrences(source: SourceState, now: Millis): readonly Occurrence[] {
  const record = readFollowing(source.following);
  if (!record) return [];
  const base = { kind: 'follows', pools: [], morePools: 0, at: toTimestamp(now) } as const;
  return [...ofStanding(record, source, base), ...ofSilence(record, now, base), ...ofRelease(record, source, base)];
}

type Base = Pick<Notification, 'kind' | 'pools' | 'morePools' | 'at'>;

function ofStanding(record: FollowingRecord, { commit }: SourceState, base: Base): readonly Occurrence[] {
  const { reason, message } = followingStanding(record);
  const { next, clusters } = record.waiting;
  const named = (those: typeof clusters): string => those.map(({ cluster }) => cluster).join(' and ');
  if (reason === 'Current') return [];
  const stays = commit === '' ? [] : [`${commit.slice(0, 12)} stays in force`];
  const isUntrusted = reason === 'NotesUntrusted';
  if (isUntrusted || reason === 'NotesUnreadable') {
    const wrong = clusters.filter((each) => (isUntrusted ? each.distrusted !== undefined : each.unreadable));
    return [
      {
        marks: { [isUntrusted ? '/notes-untrusted' : '/notes-unreadable']: commit },
        notification: {
          ...base,
          severity: 'warning',
          title: `What ${named(wrong)} says of commits ${isUntrusted ? 'does not count' : 'cannot be read'}`,
          lines: [message, ...stays],
          runbook: runbookOf('FollowedSilent'),
        },
      },
    ];
  }
  return [
    {
      marks: { '/follows': `${commit} ${next?.oid ?? ''}` },
      notification: {
        ...base,
        severity: 'info',
        title:
          next === null
            ? `Commits wait for ${named(clusters)}`
            : `Commit ${next.oid.slice(0, 12)} ${waitsForPerson(record, next.oid) ? 'waits for a person' : 'is next'}`,
        lines: [message, ...stays],
        ...(next === null ? {} : { commit: { commit: next.oid } }),
      },
    },
  ];
}

const ofSilence = (record: FollowingRecord, now: Millis, base: Base): readonly Occurrence[] =>
  longSilences(record, now).map(({ cluster, after, since }) => ({
    marks: { [`/silent-${cluster}`]: after },
    notification: {
      ...base,
      severity: 'warning',
      title: `${cluster} says nothing of newer commits`,
      lines: [`since ${toTimestamp(since)}: until it does, none of them comes into force here`],
      runbook: runbookOf('FollowedSilent'),
    },
  }));

function ofRelease({ released }: FollowingRecord, source: SourceState, base: Base): readonly Occurrence[] {
  const { commit, subject, author } = source;
  if (released === null || released.oid !== commit) return [];
  return [
    {
      marks: { '/let-through': released.oid },
      notification: {
        ...base,
        severity: 'info',
        title: `Commit ${commit.slice(0, 12)} ${released.isApproved === true ? 'brings what nobody has proven' : 'did not wait for the clusters that are followed'}`,
        lines: [`it was ${released.said}`],
        commit: commitReference({ oid: commit, subject, author: { name: author, email: '', at: '' } }),
      },
    },
  ];
}
