import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_STATE, readSourceState, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import { COMMIT_A } from '../../../support/fleet.ts';
import { sourceObject } from '../../../support/source-object.ts';

const source = (status: unknown): KubeletSource => ({ metadata: { name: 'x' }, status }) as KubeletSource;

describe('the record of the commit in force', () => {
  it('is read as it was written, every part of it', () => {
    const all = Object.fromEntries(Object.keys(NO_STATE).map((key) => [key, `the ${key}`])) as object as SourceState;
    const state = { ...all, commit: COMMIT_A };
    assert.deepEqual(readSourceState(sourceObject(state)), state);
    assert.deepEqual(readSourceState(sourceObject({ commit: COMMIT_A })), { ...NO_STATE, commit: COMMIT_A });
  });

  it('says nothing where it is not there, or empty, or no text', () => {
    const junk = { commit: 7, subject: ['a'], url: null, refused: 'no', failure: [], policy: { a: 1 } };
    for (const object of [null, source(undefined), source(null), source({}), source(junk), source({ other: 'x' })]) {
      assert.deepEqual(readSourceState(object), NO_STATE);
    }
  });

  it('names no commit where somebody damaged its name, and keeps the rest', () => {
    for (const commit of ['main', COMMIT_A.slice(1), `${COMMIT_A}a`, COMMIT_A.toUpperCase()]) {
      assert.deepEqual(readSourceState(source({ commit, subject: 's' })), { ...NO_STATE, subject: 's' });
    }
  });
});
