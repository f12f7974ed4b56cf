import assert from 'node:assert/strict';
import { it } from 'node:test';
import { spreadOf } from '#reconciler/policy/forecast/duration-range.ts';

it('a time is known with its spread, or not at all', () => {
  assert.deepEqual(
    spreadOf((restartMs) => 3 * restartMs, 100),
    { expectedMs: 300, quickMs: 150, slowMs: 900 },
  );
  for (const never of [100, 50, 300]) {
    assert.equal(
      spreadOf((restartMs) => (restartMs === never ? null : 1), 100),
      null,
    );
  }
});
