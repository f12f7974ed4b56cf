import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_TERMS, termsFrom, termsToSpec } from '#agent/decide/assignment/terms.ts';
import { DEFAULT_TRIAL, type TrialSpec } from '#shared/contract/api/kubelet-node.ts';

const SPEC: TrialSpec = { duration: '90s', startTimeout: '5s', maxRestarts: 0 };

describe('the terms of a trial', () => {
  it('are read and written with the same meaning', () => {
    const terms = termsFrom(SPEC);
    assert.deepEqual(terms, { durationMs: 90_000, startTimeoutMs: 5_000, maxRestarts: 0 });
    assert.ok(terms !== undefined);
    assert.deepEqual(termsFrom(termsToSpec(terms)), terms);
  });

  it('are those of the contract where nobody names any', () => {
    assert.deepEqual(termsFrom(DEFAULT_TRIAL), DEFAULT_TERMS);
  });

  const unreadable: readonly (readonly [string, unknown])[] = [
    ['are missing', undefined],
    ['are null', null],
    ['list durations', { ...SPEC, duration: ['90s'] }],
    ['list timeouts', { ...SPEC, startTimeout: ['5s'] }],
    ['are a word', 'short'],
    ['have no duration', { startTimeout: '5s', maxRestarts: 0 }],
    ['have no timeout', { duration: '5s', maxRestarts: 0 }],
    ['have a timeout in words', { ...SPEC, startTimeout: 'soon' }],
    ['allow half a restart', { ...SPEC, maxRestarts: 0.5 }],
    ['allow restarts by a word', { ...SPEC, maxRestarts: '2' }],
  ];
  for (const [what, value] of unreadable) {
    it(`cannot be read where they ${what}`, () => assert.equal(termsFrom(value as TrialSpec), undefined));
  }
});
