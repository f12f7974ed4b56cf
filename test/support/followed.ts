import { newRecord, writeFollowing } from '#reconciler/policy/following/record.ts';
import { writeHistory } from '#reconciler/reporting/notes/commit-history.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { COMMIT_A, COMMIT_B, NOW } from './fleet.ts';

const HOUR = 3_600_000;
const ago = (hours: number): Millis => NOW - hours * HOUR;
const said = (cluster: string, note: string, hours: number) => ({ cluster, note, since: ago(hours) });

const COMMIT_C = 'c'.repeat(40);
const COMMIT_D = 'd'.repeat(40);

const record = {
  ...newRecord({ clusters: ['staging', 'canary-eu'], settledFor: '24h' }),
  inForce: COMMIT_A,
  candidates: [{ oid: COMMIT_B, since: ago(3) }],
  waiting: {
    commits: 3,
    next: { oid: COMMIT_B, at: ago(-21) },
    clusters: [
      { cluster: 'staging', newest: { oid: COMMIT_D, note: 'halted' }, unreadable: false },
      { cluster: 'canary-eu', newest: { oid: COMMIT_C, note: 'progressing' }, unreadable: false },
    ],
  },
  silent: [{ cluster: 'canary-eu', after: COMMIT_C, since: ago(0.5) }],
  seen: [
    { oid: COMMIT_D, subject: 'Limit open <files>', said: [said('staging', 'halted', 0.25)] },
    {
      oid: COMMIT_C,
      subject: 'Raise maxPods',
      said: [said('staging', 'superseded', 0.5), said('canary-eu', 'progressing', 1)],
    },
    { oid: COMMIT_B, subject: 'Tune general', said: [said('staging', 'settled', 9), said('canary-eu', 'settled', 3)] },
    { oid: COMMIT_A, subject: '', said: [said('staging', 'settled', 50), said('canary-eu', 'a-newer-word', 49)] },
  ],
};

/** What the reconciler of a production writes that follows two clusters, of which one halted the newest commit. */
export const FOLLOWED: Pick<SourceState, 'cluster' | 'commit' | 'subject' | 'takenUpAt' | 'history' | 'following'> = {
  cluster: 'production',
  commit: COMMIT_A,
  subject: 'Begin',
  takenUpAt: toTimestamp(ago(25)),
  history: writeHistory('', [
    { oid: COMMIT_A, subject: 'Begin', author: 'Ada', at: toTimestamp(ago(25)), outcome: 'settled' },
  ]),
  following: writeFollowing(record),
};
