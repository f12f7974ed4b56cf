import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_STATE, readSourceState, sourceStateObject } from '#reconciler/reporting/notes/source-state.ts';
import { COMMIT_A } from '../../../support/fleet.ts';

const record = (data: Record<string, string>) => ({ metadata: { name: 'x' }, data });

describe('the record of the commit in force', () => {
  it('is read as it was written', () => {
    const state = { ...NO_STATE, commit: COMMIT_A, subject: 'Raise maxPods', notes: 'off: no right' };
    assert.deepEqual(readSourceState(sourceStateObject(state, 'kubelet-gitops')), state);
  });

  it('says nothing where it is not there, or empty, and nothing of what an older release did not write', () => {
    for (const object of [null, { metadata: { name: 'x' } }, record({})]) {
      assert.deepEqual(readSourceState(object), NO_STATE);
    }
    const older = record({ commit: COMMIT_A, notes: 'off: no right', ofAnother: 'release' });
    assert.deepEqual(readSourceState(older), { ...NO_STATE, commit: COMMIT_A, notes: 'off: no right' });
  });

  it('names no commit where somebody damaged its name, and keeps the rest', () => {
    for (const commit of ['main', COMMIT_A.slice(1), `${COMMIT_A}a`, COMMIT_A.toUpperCase()]) {
      assert.deepEqual(readSourceState(record({ commit, subject: 's' })), { ...NO_STATE, subject: 's' });
    }
  });
});
