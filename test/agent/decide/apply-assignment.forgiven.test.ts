import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { INITIAL_STATE, rejectionOf, type State, withRejected } from '#agent/decide/state.ts';
import { A, AT, seen } from '../../support/agent/states.ts';

const LATER = '2026-01-01T00:10:00Z';
const why = { reason: 'CrashLoop', message: 'it died', at: AT } as const;
const rejected = (): State => withRejected({ ...INITIAL_STATE, assigned: A }, A, why);
const told = (forgive?: string): ReturnType<typeof seen> =>
  seen({ intent: { intent: 'config', config: A, ...(forgive === undefined ? {} : { forgive }) } });

describe('a rejection', () => {
  it('stands while nobody forgives it', () => {
    const { next, actions } = decide(rejected(), told());
    assert.ok(rejectionOf(next, A));
    assert.deepEqual(actions, []);
  });

  it('is forgotten when a person forgives this very one, and the config fetched again', () => {
    const { next, actions } = decide(rejected(), told(AT));
    assert.equal(rejectionOf(next, A), undefined);
    assert.deepEqual(
      actions.map((action) => action.do),
      ['stage'],
    );
  });

  it('stands when another one was forgiven', () => {
    assert.ok(rejectionOf(decide(rejected(), told(LATER)).next, A));
  });
});
