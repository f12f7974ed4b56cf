import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commitReference, commitText } from '#reconciler/policy/commit-reference.ts';
import { COMMIT_A } from '../../support/fleet.ts';

const author = (name: string) => ({ name, email: 'ada@example.com', at: '' });

describe('a commit as people are told of it', () => {
  for (const [name, shown] of [
    ['Ada Lovelace', 'Ada Lovelace'],
    ['ada@example.com', 'ada'],
    ['Ada <ada@example.com>', 'Ada ada'],
    ['@', undefined],
  ] as const) {
    it(`has no address of its author: ${JSON.stringify(name)}`, () => {
      assert.equal(commitReference({ oid: COMMIT_A, subject: '', author: author(name) }).author, shown);
    });
  }

  it('is its short name with what there is to say of it', () => {
    assert.equal(commitText({ commit: COMMIT_A, subject: 'Tune', author: 'Ada' }), 'aaaaaaaaaaaa "Tune" (Ada)');
    assert.equal(
      commitText(commitReference({ oid: COMMIT_A, subject: 'x'.repeat(200), author: author('') })).length,
      115,
    );
    assert.equal(commitText({ commit: COMMIT_A }), 'aaaaaaaaaaaa');
  });
});
