import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { amountOf, limitOf, thresholdOf } from '#reconciler/policy/rollout/amount.ts';

describe('an amount of nodes', () => {
  it('is a count, or a share that is rounded', () => {
    assert.deepEqual([amountOf(3, 10, 'down'), amountOf('25%', 10, 'down'), amountOf('25%', 10, 'up')], [3, 2, 3]);
  });

  it('is as a limit none only where that is said', () => {
    assert.deepEqual(
      [limitOf(0, 10), limitOf('0%', 10), limitOf('1%', 10), limitOf('25%', 10), limitOf(3, 10)],
      [0, 0, 1, 2, 3],
    );
  });

  it('is as a threshold at least one', () => {
    assert.deepEqual(
      [thresholdOf('1%', 10), thresholdOf('25%', 10), thresholdOf(0, 10), thresholdOf('0%', 10)],
      [1, 3, 1, 1],
    );
  });
});
