import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lostCommit } from '#reconciler/policy/in-force/lost-commit.ts';
import { COMMIT_A, COMMIT_B, fleetOf, poolInCluster, validPool } from '../../../support/fleet.ts';

const named = (...commits: readonly (string | undefined)[]) =>
  fleetOf({
    pools: commits.map((commit, index) =>
      poolInCluster(validPool(`p${index}`, 1), commit === undefined ? {} : { commit }),
    ),
  });

describe('the commit in force, where the record of it is lost', () => {
  it('is the one that most pools name: those with errors name an older one', () => {
    assert.equal(lostCommit(named(COMMIT_A, COMMIT_B, COMMIT_B)), COMMIT_B);
    assert.equal(lostCommit(named(COMMIT_B, COMMIT_A)), COMMIT_A, 'the same one each time');
  });

  it('is none where no pool names one that can be one', () => {
    assert.equal(lostCommit(fleetOf({})), null);
    assert.equal(lostCommit(named('main', '', `${COMMIT_A}0`, `0${COMMIT_A}`)), null);
    assert.equal(lostCommit(fleetOf({ pools: [{ metadata: { name: 'new' } }] })), null);
  });
});
