import assert from 'node:assert/strict';
import { it } from 'node:test';
import { memoizeFor } from '#shared/runtime/memoize-for.ts';
import { createManualClock } from '../../support/manual-clock.ts';

it('what was made is given out until it is too old, and not longer', () => {
  const clock = createManualClock();
  let made = 0;
  const get = memoizeFor(clock, 1_000, () => (made += 1));
  assert.deepEqual([get(), get()], [1, 1]);
  clock.skip(999);
  assert.equal(get(), 1);
  clock.skip(1);
  assert.deepEqual([get(), get()], [2, 2]);
});
