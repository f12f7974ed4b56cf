import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commitsOf } from '#reconciler/telling/report/recorded-commits.ts';
import {
  NO_STATE,
  readSourceState,
  type SourceState,
  sourceStateObject,
} from '#reconciler/telling/report/source-state.ts';
import { COMMIT_A, COMMIT_B } from '../../../support/fleet.ts';

const HERE = { url: 'https://git.example/config.git', branch: 'main', cluster: 'prod' };
const REFUSED = { refusedCommit: COMMIT_B, refusedReason: 'changes-too-many', refusedBecause: 'it would change all' };
const recorded = (state: Partial<SourceState>): SourceState =>
  readSourceState(sourceStateObject({ ...NO_STATE, ...HERE, commit: COMMIT_A, ...state }, 'kubelet-gitops'));

describe('what is on record of commits', () => {
  it('is the one in force, and the one that was refused for what it would do to the fleet', () => {
    assert.deepEqual(commitsOf(recorded({}), HERE), { inForce: COMMIT_A, refused: null });
    const refused = { commit: COMMIT_B, reason: 'changes-too-many', message: 'it would change all' };
    assert.deepEqual(commitsOf(recorded(REFUSED), HERE), { inForce: COMMIT_A, refused });
    assert.deepEqual(commitsOf(NO_STATE, HERE), { inForce: null, refused: null });
  });

  it('is no refusal for another reason, of an older release, or for another branch, repository or cluster', () => {
    for (const refusedReason of ['', 'history-rewritten', 'commit-unsigned']) {
      assert.equal(commitsOf(recorded({ ...REFUSED, refusedReason }), HERE).refused, null);
    }
    for (const other of [{ url: 'https://git.example/other.git' }, { branch: 'next' }, { cluster: 'test' }]) {
      assert.equal(commitsOf(recorded(REFUSED), { ...HERE, ...other }).refused, null);
    }
  });
});
