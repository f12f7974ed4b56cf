import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { CommitOid } from '../commit-snapshot.ts';
import { sayUnproved } from './counterparts.ts';
import { sayApproved } from './let-through.ts';
import { NOT_A_NOTE, UNREADABLE, type WaitsFor } from './choose-commit.ts';
import type { FollowingRecord } from './record.ts';

/** How a cluster stands towards those that it follows. */
export interface FollowingStanding {
  /** Nothing waits; something does; what others say cannot be read, or is not signed as it has to be, so that nothing new comes into force. */
  readonly reason: 'Current' | 'Waiting' | 'NotesUnreadable' | 'NotesUntrusted';
  /** For whom and why, and what comes next when, without a time that passes. */
  readonly message: string;
}

export function followingStanding(record: FollowingRecord): FollowingStanding {
  const { follows, waiting, silent } = record;
  const names = follows.clusters.join(' and ');
  const { commits, next, clusters } = waiting;
  const wrong = clusters.filter((each) => each.distrusted !== undefined);
  if (wrong.length > 0) {
    const why = wrong.map(({ cluster, distrusted }) => `the notes of ${cluster} ${distrusted}`).join('; ');
    const message = `${why}. Nothing that it says counts until then: only what settled here before comes into force`;
    return { reason: 'NotesUntrusted', message };
  }
  const unreadable = clusters.filter((each) => each.unreadable).map(({ cluster }) => cluster);
  if (unreadable.length > 0) {
    const message = `the notes of ${unreadable.join(' and ')} cannot be read: until they can, only what settled here before comes into force`;
    return { reason: 'NotesUnreadable', message };
  }
  if (commits === 0) return { reason: 'Current', message: `no commit waits for ${names}` };
  const how = clusters.map((each) => sayingOf(each, silent));
  const what = commits === 1 ? '1 commit waits' : `${commits} commits wait`;
  const then =
    next === null || waitsForPerson(record, next.oid)
      ? ''
      : `; ${next.oid.slice(0, 12)} comes into force at ${toTimestamp(next.at)} if ${names} still ${follows.clusters.length === 1 ? 'calls' : 'call'} it settled`;
  return {
    reason: 'Waiting',
    message: `${what}: ${how.join('; ')}${then || withoutCommon(clusters)}${lackingIn(record)}`,
  };
}

/** As long as the alert KubeletGitopsFollowedSilent waits. */
const SILENT_AFTER_MS: Millis = 36 * 60 * 60_000;

/** Clusters that say nothing of newer commits for longer than somebody has to look. */
export const longSilences = ({ silent }: FollowingRecord, now: Millis): FollowingRecord['silent'] =>
  silent.filter(({ since }) => now - since > SILENT_AFTER_MS);

/** Time alone does not bring this commit into force. */
export const waitsForPerson = ({ waiting, counterparts }: FollowingRecord, commit: CommitOid): boolean =>
  waiting.held?.includes(commit) === true ||
  (counterparts?.commit === commit && counterparts.isHeld && (!counterparts.isRead || counterparts.pools.length > 0));

/** What the followed clusters prove nothing of in the commit that is next. */
function lackingIn({ follows, counterparts }: FollowingRecord): string {
  if (counterparts === null) return '';
  const { commit, pools, more, approved, isRead, isHeld } = counterparts;
  const name = commit.slice(0, 12);
  if (!isRead) return isHeld ? `; what ${name} changes here cannot be read, so that it waits` : '';
  const given = isHeld && approved.length > 0 ? `; approved: ${sayApproved(approved)}` : '';
  if (pools.length === 0) return given;
  const others = more === 0 ? '' : `, and of ${more} more pools`;
  const said = `; of ${name}, ${sayUnproved(pools, follows.clusters)}${others}`;
  if (!isHeld) return said;
  const names = pools.map(({ pool }) => pool).join(' ');
  const then = more === 0 ? '' : ', then the others, which are named after that';
  return `${said}. It waits for a person: kubelet-gitops approve ${names}${then}, or kubelet-gitops release --commit ${commit} --because TEXT for a pool that is new${given}`;
}

function sayingOf({ cluster, newest }: WaitsFor, silent: FollowingRecord['silent']): string {
  const since = silent.find((each) => each.cluster === cluster)?.since;
  const quiet = since === undefined ? '' : `, and nothing of newer ones since ${toTimestamp(since)}`;
  if (newest === null)
    return `${cluster} says nothing of any of them${quiet.replace(', and nothing of newer ones', '')}`;
  const name = newest.oid.slice(0, 12);
  if (newest.note === UNREADABLE) return `the note of ${cluster} on ${name} cannot be read${quiet}`;
  if (newest.note === NOT_A_NOTE) return `the entry of ${cluster} for ${name} is no note of this version${quiet}`;
  return `${cluster} says of ${name}: ${newest.note}${quiet}`;
}

/** Each may have settled other commits than the others looked at. */
const withoutCommon = (clusters: readonly WaitsFor[]): string =>
  clusters.length > 1 && clusters.every(({ newest }) => newest?.note === 'settled')
    ? '; no commit is settled in all of them'
    : '';
