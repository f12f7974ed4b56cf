import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../support/property.ts';
import { formatDuration, parseDuration } from '#shared/runtime/duration.ts';

const rows = [
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['90s', 90_000],
  ['500ms', 500],
  ['1m500ms', 60_500],
  ['0s', 0],
  ['', undefined],
  ['10', undefined],
  ['-5s', undefined],
  ['1d', undefined],
  ['5s1m', undefined],
  ['1.5h', undefined],
  ['10 m', undefined],
] as const;

describe('a duration', () => {
  for (const [text, ms] of rows) {
    it(`${JSON.stringify(text)} is ${ms === undefined ? 'refused' : `${ms} ms`}`, () => {
      assert.equal(parseDuration(text), ms);
    });
  }

  it('reads back what it writes', () => {
    forAll(fc.nat(1_000_000_000), (ms) => assert.equal(parseDuration(formatDuration(ms)), ms));
  });
});
