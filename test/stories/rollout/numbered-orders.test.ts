import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BASE, poolOf, Rewritten } from './support/rewritten-files.ts';

describe('the orders of a node', () => {
  it('count what restarts its kubelet, or may: another config, a turn, the way back; and nothing else', () => {
    const fleet = new Rewritten(['n1']);
    const numbers = (): readonly unknown[] => [fleet.node('n1').spec?.order, fleet.node('n1').status?.obeyedOrder];
    assert.deepEqual(numbers(), [1, 1]);
    fleet.commit(poolOf('workers', 100, {}, { drift: 'report' }));
    fleet.commit(poolOf('workers', 100, {}));
    fleet.rounds(2);
    assert.deepEqual(numbers(), [1, 1], 'other terms are no other order');
    fleet.rewrite(BASE);
    fleet.rounds(4);
    assert.deepEqual(numbers(), [2, 2], 'a turn');
    fleet.commit(poolOf('workers', 110, {}));
    fleet.rounds(4);
    assert.deepEqual(numbers(), [3, 3], 'another config');
    fleet.commit();
    fleet.rounds(6);
    assert.deepEqual([fleet.node('n1').spec, numbers()], [{ order: 4 }, [4, 4]], 'the way back to its local config');
  });
});
