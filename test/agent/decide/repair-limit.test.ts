import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayRepair, repairsWithinTheHour, addRepair } from '#agent/decide/repair-limit.ts';

const HOUR = 3_600_000;

describe('files that somebody else changes', () => {
  it('are put back four times within an hour', () => {
    assert.deepEqual([mayRepair([]), mayRepair([3, 2, 1]), mayRepair([4, 3, 2, 1])], [true, true, false]);
  });

  it('are put back once more when the first time is an hour ago, to the millisecond', () => {
    assert.deepEqual([mayRepair([HOUR - 1, 3, 2, 1]), mayRepair([HOUR, 3, 2, 1])], [false, true]);
    assert.deepEqual([repairsWithinTheHour([HOUR - 1, 1]), repairsWithinTheHour([HOUR, 1])], [2, 1]);
  });

  it('were put back, which is remembered as often as it counts', () => {
    let repairs: readonly number[] = [];
    for (const at of [10, 20, 30, 40]) repairs = addRepair(repairs, at);
    assert.deepEqual(repairs, [10, 20, 30, 40]);
    assert.deepEqual(addRepair(repairs, 50), [20, 30, 40, 50]);
  });
});
