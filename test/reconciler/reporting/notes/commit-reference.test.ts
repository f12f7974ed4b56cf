import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commitReference } from '#reconciler/reporting/notes/commit-reference.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { COMMIT_A, COMMIT_B } from '../../../support/fleet.ts';

const author = (name: string) => ({ name, email: 'ada@example.com', at: '' });
const recorded = { ...NO_STATE, commit: COMMIT_A, subject: 'Tune', author: 'Ada' };

describe('a commit as people are told of it', () => {
  it('is by what was read, or by the record of it, and otherwise its name alone', () => {
    const tip = { oid: COMMIT_B, subject: 'More', author: author('Bob') };
    assert.deepEqual(commitReference(COMMIT_B, tip, recorded), { commit: COMMIT_B, subject: 'More', author: 'Bob' });
    assert.deepEqual(commitReference(COMMIT_A, tip, recorded), { commit: COMMIT_A, subject: 'Tune', author: 'Ada' });
    assert.deepEqual(commitReference(COMMIT_B, null, recorded), { commit: COMMIT_B });
  });

  for (const [name, shown] of [
    ['Ada Lovelace', 'Ada Lovelace'],
    ['ada@example.com', 'ada'],
    ['Ada <ada@example.com>', 'Ada ada'],
    ['@', undefined],
    ['a\u202eb', 'ab'],
  ] as const) {
    it(`has no address of its author: ${JSON.stringify(name)}`, () => {
      const tip = { oid: COMMIT_A, subject: '', author: author(name) };
      assert.equal(commitReference(COMMIT_A, tip, recorded).author, shown);
    });
  }
});
