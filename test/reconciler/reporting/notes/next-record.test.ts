import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JudgedSnapshot } from '#reconciler/policy/commit-snapshot.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { type CommitNote, noteSuperseded } from '#reconciler/reporting/notes/commit-note.ts';
import { readHistory } from '#reconciler/reporting/notes/commit-history.ts';
import { nextRecord, type RecordedPass } from '#reconciler/reporting/notes/next-record.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { commit, COMMIT_A, COMMIT_B, fleetOf, NOW } from '../../../support/fleet.ts';
import { note, pool } from '../forge/notes.ts';

const HERE = { url: 'https://git.example/x', branch: 'main', cluster: 'prod' };
const AT = toTimestamp(NOW);
const REFUSED = { commit: COMMIT_B, reason: 'commit-unsigned', message: 'nobody signed it' } as const;
const before: SourceState = { ...NO_STATE, commit: COMMIT_A, subject: 'of a', author: 'Ada', takenUpAt: 'earlier' };

const tipAt = (oid: string, signature: JudgedSnapshot['signature'] = { verdict: 'not-required' }): JudgedSnapshot =>
  ({
    commit: { oid, subject: 'of the tip', author: { name: 'Grace' } },
    signature,
  }) as unknown as JudgedSnapshot;

const writing = (stood: boolean): NonNullable<RecordedPass['notes']> => ({
  state: () => ({ notes: 'on' }),
  stands: () => stood,
  unreadable: () => [],
  signed: () => null,
});

function record(
  recorded: SourceState,
  over: Partial<RecordedPass> & { readonly inForce?: string | null } = {},
): SourceState {
  const { inForce = COMMIT_A, ...more } = over;
  const taken = { inForce: inForce === null ? null : commit(inForce), refused: null };
  return nextRecord(recorded, {
    here: HERE,
    taken,
    tip: tipAt(COMMIT_A),
    failure: null,
    desired: desiredState(taken.inForce, fleetOf({}), () => []),
    leftAlone: [],
    due: { present: null, displaced: [] },
    notes: writing(true),
    statuses: 'on',
    notifications: 'on',
    following: '',
    at: NOW,
    ...more,
  });
}
const present = (outcome: CommitNote['outcome'], oid = COMMIT_A): RecordedPass['due'] => ({
  present: note(outcome, [pool('web', 'Settled', 4)], { commit: oid }),
  displaced: [],
});
const named = ({ commit: oid, subject, author, takenUpAt, signedBy }: SourceState) => [
  oid,
  subject,
  author,
  takenUpAt,
  signedBy,
];

describe('the record after a pass', () => {
  it('names a commit that came into force, by whom and when, and whose signature let it in', () => {
    const signature = { verdict: 'trusted', signer: 'Grace', key: 'K1' } as const;
    const next = { inForce: COMMIT_B, tip: tipAt(COMMIT_B, signature) };
    assert.deepEqual(named(record(before, next)), [COMMIT_B, 'of the tip', 'Grace', AT, 'Grace (K1)']);
    assert.equal(record(before, { inForce: COMMIT_B, tip: tipAt(COMMIT_B) }).signedBy, '');
  });

  it('keeps what it says of one that stays, or that nobody has read', () => {
    for (const over of [
      {},
      { tip: null },
      { inForce: null },
      { inForce: COMMIT_B, tip: null },
      { inForce: COMMIT_B },
    ]) {
      assert.deepEqual(named(record(before, over)), named(before));
    }
    const { url, branch, cluster } = record(before);
    assert.deepEqual({ url, branch, cluster }, HERE);
  });

  it('says how the commit fared once its last word stands on it', () => {
    const outcome = (due: RecordedPass['due'], stood: boolean, was = '') =>
      record({ ...before, outcome: was }, { due, notes: writing(stood) }).outcome;
    assert.equal(outcome(present('settled'), true), 'settled');
    assert.equal(outcome(present('settled'), false), '');
    assert.equal(outcome(present('progressing'), true), '');
    assert.equal(outcome({ present: null, displaced: [] }, true, 'settled'), 'settled');
    assert.equal(record(before, { due: present('settled'), notes: null }).outcome, '');
  });

  it('remembers the commit in force, and a tip that was refused', () => {
    const history = (over: Parameters<typeof record>[1]) =>
      readHistory(record(before, over).history).map(({ oid, outcome, author, at }) => [
        oid.slice(0, 1),
        outcome,
        author,
        at,
      ]);
    const refused = { inForce: commit(COMMIT_A), refused: REFUSED };
    const [inForce, tip] = [
      ['a', 'settled', 'Ada', 'earlier'],
      ['b', 'refused', 'Grace', AT],
    ];
    assert.deepEqual(history({ due: present('settled') }), [inForce]);
    assert.deepEqual(history({ due: present('settled'), taken: refused, tip: tipAt(COMMIT_B) }), [tip, inForce]);
    assert.deepEqual(history({ taken: refused, tip: tipAt(COMMIT_B) }), [tip]);
    for (const unseen of [tipAt(COMMIT_A), null]) {
      assert.deepEqual(history({ due: present('settled'), taken: refused, tip: unseen }), [inForce]);
    }
    assert.deepEqual(history({ due: present('settled', COMMIT_B) }), []);
  });

  it('says what was refused and what fails, and nothing of either when that is over', () => {
    const failure = { since: AT, code: 'GIT_TIMEOUT', message: 'late' };
    const taken = { inForce: commit(COMMIT_A), refused: REFUSED };
    const bad = record(before, { failure, taken });
    assert.deepEqual(
      [bad.refusedCommit, bad.refusedReason, bad.refusedBecause, bad.failingSince, bad.failure],
      [COMMIT_B, 'commit-unsigned', 'nobody signed it', AT, 'GIT_TIMEOUT: late'],
    );
    const good = record(bad);
    assert.deepEqual(
      [good.refusedCommit, good.refusedReason, good.refusedBecause, good.failingSince, good.failure],
      ['', '', '', '', ''],
    );
  });

  it('says whether notes and statuses are written, and keeps last words until they stand', () => {
    const displaced = [noteSuperseded(note('progressing', []), COMMIT_B)];
    const due = { present: null, displaced };
    const off: RecordedPass['notes'] = { ...writing(false), state: () => ({ notes: 'off', because: 'no right' }) };
    const kept = record(before, { due, notes: off, statuses: 'off: no token' });
    assert.deepEqual([kept.notes, kept.statuses], ['off: no right', 'off: no token']);
    assert.match(kept.displaced, /superseded/);
    assert.equal(record(before, { due }).displaced, '');
    assert.equal(record(before, { notes: null }).notes, 'off: switched off');
    assert.equal(record(before).notes, 'on');
  });

  it('has the limits of the commit in force, or those that it had', () => {
    const recorded = { ...before, limits: 'as recorded' };
    assert.equal(record(recorded, { inForce: null }).limits, 'as recorded');
    assert.notEqual(record(recorded).limits, 'as recorded');
  });
});
