import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  commitRelease,
  readingMark,
  recordedCommitsOf,
  withRelease,
} from '#reconciler/reporting/notes/recorded-commits.ts';
import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import { limitsOf, writeLimits } from '#reconciler/policy/commit-limits.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { NO_STATE, readSourceState, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { sourceObject } from '../../../support/source-object.ts';
import { COMMIT_A, COMMIT_B } from '../../../support/fleet.ts';

const HERE = { url: 'https://git.example/config.git', branch: 'main', cluster: 'prod' };
const REFUSED = { refusedCommit: COMMIT_B, refusedReason: 'changes-too-many', refusedBecause: 'it would change all' };
const recorded = (state: Partial<SourceState>): SourceState =>
  readSourceState(sourceObject({ ...HERE, commit: COMMIT_A, ...state }));

describe('what is on record of commits', () => {
  it('is the one in force, and the one that was refused for what it would do to the fleet', () => {
    const usual = { limits: { limits: limitsOf(DEFAULT_CLUSTER), boundsBefore: { fields: { allow: [], deny: [] } } } };
    assert.deepEqual(recordedCommitsOf(recorded({}), HERE), { inForce: COMMIT_A, refused: null, ...usual });
    const refused = { commit: COMMIT_B, reason: 'changes-too-many', message: 'it would change all' };
    assert.deepEqual(recordedCommitsOf(recorded(REFUSED), HERE), { inForce: COMMIT_A, refused, ...usual });
    assert.deepEqual(recordedCommitsOf(NO_STATE, HERE), { inForce: null, refused: null });
  });

  it('is what the one in force holds the next one to, and what it is held to itself', () => {
    const own = { ...limitsOf(DEFAULT_CLUSTER), maxChange: '50%', fields: { allow: ['port'], deny: [] } };
    const boundsBefore = { fields: { allow: [], deny: ['maxPods'] } };
    const former = { maxUnavailable: 1, maxUnassign: '20%', windows: null };
    const policy = JSON.stringify(policyOf({ ...DEFAULT_CLUSTER, former }));
    const { limits, former: read } = recordedCommitsOf(
      recorded({ limits: writeLimits(own, boundsBefore), policy }),
      HERE,
    );
    assert.deepEqual([limits, read], [{ limits: own, boundsBefore }, former]);
  });

  it('allows nothing where somebody damaged it', () => {
    for (const damaged of [
      '{',
      'null',
      '[]',
      '{"boundsBefore":7}',
      '{"limits":{"fields":{"allow":["port"]}}}',
      '{"boundsBefore":{"fields":{"allow":"port"}}}',
    ]) {
      const { limits } = recordedCommitsOf(recorded({ limits: damaged }), HERE);
      assert.deepEqual(limits?.limits, limitsOf(DEFAULT_CLUSTER), damaged);
      assert.deepEqual(limits?.boundsBefore?.fields.allow ?? [], [], damaged);
    }
  });

  it('is no refusal for another reason, or for another branch, repository or cluster', () => {
    for (const refusedReason of ['', 'history-rewritten', 'commit-unsigned']) {
      assert.equal(recordedCommitsOf(recorded({ ...REFUSED, refusedReason }), HERE).refused, null);
    }
    for (const other of [{ url: 'https://git.example/other.git' }, { branch: 'next' }, { cluster: 'test' }]) {
      assert.equal(recordedCommitsOf(recorded(REFUSED), { ...HERE, ...other }).refused, null);
    }
  });

  it('is the one that three processes in a row were reading when they ended, but for one that was in force', () => {
    let mark = '';
    for (const expected of ['changes-too-many', 'changes-too-many', 'changes-too-many']) {
      assert.equal(recordedCommitsOf(recorded(REFUSED), HERE, mark).refused?.reason, expected);
      mark = readingMark(COMMIT_B, mark);
    }
    assert.equal(readingMark(COMMIT_A, mark), COMMIT_A, 'another commit begins anew');
    const ended = recordedCommitsOf(recorded(REFUSED), HERE, mark).refused;
    assert.deepEqual([ended?.commit, ended?.reason], [COMMIT_B, 'ended-the-reconciler']);
    assert.equal(recordedCommitsOf(recorded(REFUSED), HERE, `${COMMIT_A} 3`).refused?.reason, 'changes-too-many');
    assert.equal(recordedCommitsOf(recorded({}), { ...HERE, branch: 'next' }, mark).refused, null);
    const lasting = { ...REFUSED, refusedReason: 'ended-the-reconciler' };
    assert.equal(recordedCommitsOf(recorded(lasting), HERE).refused?.reason, 'ended-the-reconciler');
  });

  it('is none once a person released the one that ended them, each time anew', () => {
    const ended = recorded({ ...REFUSED, refusedCommit: COMMIT_B, refusedReason: 'ended-the-reconciler' });
    const [first, second] = ['2026-11-21T12:00:00Z', '2026-11-21T13:00:00Z'].map((at) => commitRelease(COMMIT_B, at));
    const ask = (value: string | undefined) => (value === undefined ? undefined : { value, by: undefined });
    const released = withRelease(ended, ask(first));
    assert.deepEqual([recordedCommitsOf(released, HERE).refused, released.released], [null, first]);
    const again = { ...ended, released: released.released };
    assert.equal(withRelease(again, ask(first)), again, 'one counts once');
    assert.equal(withRelease(again, ask(second)).refusedCommit, '');
    for (const asked of [undefined, '', COMMIT_B, commitRelease(COMMIT_A, 'now')])
      assert.equal(withRelease(ended, ask(asked)), ended, asked);
    const other = recorded(REFUSED);
    assert.equal(withRelease(other, ask(commitRelease(REFUSED.refusedCommit, 'now'))), other, 'another refusal');
  });
});
