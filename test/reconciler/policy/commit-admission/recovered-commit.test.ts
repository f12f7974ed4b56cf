import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recoveredCommit } from '#reconciler/policy/commit-admission/recovered-commit.ts';
import { COMMIT_A, COMMIT_B, fleetOf, poolInCluster, validPool } from '../../../support/fleet.ts';

const named = (...commits: readonly (string | undefined)[]) =>
  fleetOf({
    pools: commits.map((commit, index) =>
      poolInCluster(validPool(`p${index}`, 1), commit === undefined ? {} : { commit }),
    ),
  });

describe('the commit in force, where the record of it is lost', () => {
  it('is the one that most pools name: those with errors name an older one', () => {
    assert.equal(recoveredCommit(named(COMMIT_A, COMMIT_B, COMMIT_B)), COMMIT_B);
    assert.equal(recoveredCommit(named(COMMIT_B, COMMIT_A)), COMMIT_A, 'the same one each time');
  });

  it('is none where no pool names one that can be one', () => {
    assert.equal(recoveredCommit(fleetOf({})), null);
    assert.equal(recoveredCommit(named('main', '', `${COMMIT_A}0`, `0${COMMIT_A}`)), null);
    assert.equal(recoveredCommit(fleetOf({ pools: [{ metadata: { name: 'new' } }] })), null);
  });
});
