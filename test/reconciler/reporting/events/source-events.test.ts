import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimText } from '#shared/contract/claim.ts';
import { BY_ANNOTATION, RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import { commitRelease } from '#reconciler/reporting/notes/recorded-commits.ts';
import { newRecord, type ReleasedCommit, writeFollowing } from '#reconciler/policy/following/record.ts';
import { eventsOfSource } from '#reconciler/reporting/events/source-events.ts';
import type { KubeletSource, KubeletSourceStatus } from '#shared/contract/api/kubelet-source.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import { COMMIT_A, COMMIT_B } from '../../../support/fleet.ts';

const AT = '2026-11-21T12:00:00Z';
const condition = (over: Partial<Condition>): Condition => ({
  type: 'Stalled',
  status: 'True',
  reason: 'ConfigRefused',
  message: 'a finding',
  lastTransitionTime: AT,
  ...over,
});
const events = (status: KubeletSourceStatus, uid: string | null = 'u'): readonly string[] => {
  const metadata = { name: 'source', ...(uid === null ? {} : { uid }) };
  const source = { metadata, status } as unknown as KubeletSource;
  return eventsOfSource(source).map(({ type, reason, note, at = '-' }) => `${type} ${reason} ${at} ${note}`);
};
const IN_FORCE = { commit: COMMIT_A, subject: 'Raise', author: 'Ada', takenUpAt: AT };
const TOLD = `Normal CommitInForce ${AT} Commit aaaaaaaaaaaa (Raise; author: Ada) came into force`;

describe('what is told of the branch', () => {
  it('is the commit that came into force, by whom and when, as far as that is known', () => {
    assert.deepEqual(events(IN_FORCE), [TOLD]);
    assert.deepEqual(events({ commit: COMMIT_A }), ['Normal CommitInForce - Commit aaaaaaaaaaaa came into force']);
    assert.deepEqual(events({ commit: COMMIT_A, author: 'Ada' }), [
      'Normal CommitInForce - Commit aaaaaaaaaaaa (author: Ada) came into force',
    ]);
  });

  it('is that a person let the commit in force through, who and why', () => {
    const value = commitRelease(COMMIT_A, AT, 'staging is gone');
    const by = claimText({ verb: 'release', at: AT, who: 'ada' }, value);
    const annotations = { [RELEASE_ANNOTATION]: value, [BY_ANNOTATION]: by };
    const told = (status: KubeletSourceStatus): readonly string[] =>
      eventsOfSource({ metadata: { name: 'source', uid: 'u', annotations }, status })
        .filter(({ reason }) => reason === 'Released')
        .map(({ note }) => note);
    assert.deepEqual(told(IN_FORCE), [
      `Commit aaaaaaaaaaaa (Raise; author: Ada) was released by ada at ${AT}: staging is gone`,
    ]);
    assert.deepEqual(told({ ...IN_FORCE, commit: COMMIT_B }), [], 'another one is in force');
  });

  it('is that a person approved what nobody had proven of it, and what of that one released', () => {
    const told = (released: ReleasedCommit, annotations = {}): readonly string[] => {
      const following = writeFollowing({ ...newRecord({ clusters: ['staging'], settledFor: '1h' }), released });
      return eventsOfSource({ metadata: { name: 'source', uid: 'u', annotations }, status: { ...IN_FORCE, following } })
        .filter(({ reason }) => reason !== 'CommitInForce')
        .map(({ reason, note }) => `${reason}: ${note}`);
    };
    const name = 'Commit aaaaaaaaaaaa (Raise; author: Ada)';
    assert.deepEqual(told({ oid: COMMIT_A, said: 'approved: gpu by ada', isApproved: true }), [
      `Approved: ${name} was approved: gpu by ada`,
    ]);
    const said = 'released by ada; nobody had proven what gpu gets';
    const annotations = { [RELEASE_ANNOTATION]: commitRelease(COMMIT_A, AT, 'staging is gone') };
    assert.deepEqual(told({ oid: COMMIT_A, said }, annotations), [`Released: ${name} was ${said}`], 'once');
    assert.deepEqual(told({ oid: COMMIT_B, said }), [], 'another one is in force');
  });

  it('is a newer commit that is refused, and why', () => {
    const refused = { commit: COMMIT_B, reason: 'commit-unsigned', message: 'nobody signed it' };
    assert.deepEqual(events({ refused, lastAttemptedAt: AT }), [
      `Warning CommitRefused ${AT} Commit bbbbbbbbbbbb is refused: nobody signed it`,
    ]);
  });

  it('is what is wrong in the commit in force', () => {
    const wrong = `Warning ConfigRefused ${AT} Commit aaaaaaaaaaaa (Raise; author: Ada) has errors: a finding`;
    assert.deepEqual(events({ ...IN_FORCE, conditions: [condition({})] }), [TOLD, wrong]);
  });

  for (const [what, over] of [
    ['that is not so', { status: 'False' }],
    ['of another type', { type: 'Reconciling' }],
    ['for another reason', { reason: 'CommitRefused' }],
  ] as const) {
    it(`is no error by a condition ${what}`, () => {
      assert.deepEqual(events({ ...IN_FORCE, conditions: [condition(over)] }), [TOLD]);
    });
  }

  it('is no error where no commit is in force, and nothing where the object is not made yet', () => {
    assert.deepEqual(events({ conditions: [condition({})] }), []);
    assert.deepEqual(events(IN_FORCE, null), []);
  });
});
