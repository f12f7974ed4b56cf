import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastOrderOf, nextOrderOf } from '#reconciler/policy/rollout/next-order.ts';

const ROWS: readonly (readonly [what: string, told: unknown, obeyed: unknown, next: number])[] = [
  ['before the first one', undefined, undefined, 1],
  ['after one that nobody followed yet', 5, undefined, 6],
  ['after one that was followed', 5, 5, 6],
  ['after one that is followed later', 6, 5, 7],
  ['after those that a restored cluster forgot', 5, 9, 10],
  ['after one of another KubeletNode', undefined, 9, 10],
  ['whatever an agent says', 5, '9', 6],
  ['however high an agent says', 5, 2 ** 63, 6],
  ['however low an agent says', 5, -9, 6],
];

describe('the number of the next order', () => {
  for (const [what, order, obeyedOrder, next] of ROWS) {
    it(`is ${next} ${what}`, () => {
      const node = { metadata: { name: 'a' }, spec: { order }, status: { obeyedOrder } } as never;
      assert.deepEqual([nextOrderOf(node), lastOrderOf(node)], [next, next - 1]);
    });
  }

  it('is 1 of a node that nothing is known of', () => {
    assert.deepEqual([nextOrderOf({ metadata: { name: 'a' } }), lastOrderOf(undefined)], [1, 0]);
  });
});
