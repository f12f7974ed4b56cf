import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createEndCounter } from '#agent/observe/end-counter.ts';
import type { ServiceStatus } from '#agent/ports/kubelet-service.ts';

const up = (run: string, automaticRestarts: number | null): ServiceStatus => ({
  state: 'running',
  run,
  automaticRestarts,
});
const waits = (automaticRestarts: number): ServiceStatus => ({
  state: 'starting',
  run: null,
  automaticRestarts,
  awaitsRestart: true,
});

it('ends by itself count until the kubelet was healthy for ten seconds in one run', () => {
  const ends = createEndCounter();
  // What was before the first look is unknown.
  assert.equal(ends.update(up('a', 7), true, 0), 0);
  assert.equal(ends.update(waits(7), false, 1_000), 1);
  assert.equal(ends.update(up('b', 8), false, 2_000), 1);
  assert.equal(ends.update(up('b', 8), true, 3_000), 1);
  assert.equal(ends.update(up('c', 9), true, 14_000), 2);
  assert.equal(ends.update(waits(9), false, 20_000), 3);
  assert.equal(ends.update(up('d', 10), true, 21_000), 3);
  assert.equal(ends.update(up('d', 10), true, 31_000), 0);
});

it('an ordered start begins the count again', () => {
  const ends = createEndCounter();
  ends.update(up('a', 0), true, 0);
  assert.equal(ends.update(up('b', 3), false, 1_000), 3);
  assert.equal(ends.update(up('c', 0), false, 2_000), 0);
  assert.equal(ends.update(up('d', null), false, 3_000), 0);
});
