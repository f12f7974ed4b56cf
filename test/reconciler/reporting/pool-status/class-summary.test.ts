import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byUrgency, formatClass, hasNoConfig, isClassDone } from '#reconciler/reporting/pool-status/class-summary.ts';
import type { ClassStatus } from '#shared/contract/api/kubelet-pool.ts';

const HELD: ClassStatus = { name: 'a', nodes: 2, message: 'too small' };
const MOVING: ClassStatus = { name: 'b', nodes: 3, updated: 1, configName: 'web-b' };
const DONE: ClassStatus = { name: 'c', nodes: 3, updated: 3, configName: 'web-c' };
const UNCOUNTED: ClassStatus = { name: '', nodes: 1, configName: 'web-d' };

describe('a class of machines', () => {
  const rows: readonly (readonly [ClassStatus, boolean, boolean, string])[] = [
    [HELD, true, false, 'a: 2 nodes keep what they have: too small'],
    [{ ...HELD, nodes: 1 }, true, false, 'a: 1 node keeps what it has: too small'],
    [MOVING, false, false, 'b: 1 of 3 nodes run web-b'],
    [DONE, false, true, 'c: 3 of 3 nodes run web-c'],
    [{ ...DONE, nodes: 1, updated: 1 }, false, true, 'c: 1 of 1 node runs web-c'],
    [UNCOUNTED, false, true, 'other machines: 1 node to run web-d'],
  ];
  for (const [each, none, done, text] of rows) {
    it(`is told as “${text}”`, () => {
      assert.deepEqual([hasNoConfig(each), isClassDone(each), formatClass(each)], [none, done, text]);
    });
  }

  it('stands before those that need less of a person', () => {
    assert.deepEqual(byUrgency([DONE, MOVING, UNCOUNTED, HELD]), [HELD, MOVING, DONE, UNCOUNTED]);
  });
});
