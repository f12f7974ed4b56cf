import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BASE, EIGHT, MINUTE, poolOf, Rewritten } from './support/rewritten-files.ts';

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

  it('are given to nobody of a pool where some are gone, until the agents of those nodes have written', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 2 });
    const backup = fleet.sim.fleet.kubeletNodes;
    const told = (): readonly string[] =>
      EIGHT.filter((name) => fleet.node(name).spec?.configSource?.sha256 === other.sha256);
    const other = poolOf('workers', 110, { maxUnavailable: 2 });
    fleet.commit(other);
    fleet.sim.reconcile();
    assert.deepEqual(told(), ['n1', 'n2']);
    const really = new Map(told().map((name) => [name, fleet.node(name)]));
    fleet.sim.fleet = { ...fleet.sim.fleet, kubeletNodes: backup };
    fleet.sim.reconcile();
    assert.deepEqual([told(), fleet.holds()], [[], ['unheard 8']]);
    fleet.sim.now += MINUTE;
    for (const name of really.keys())
      fleet.report(name, { obeyedOrder: 2, heartbeat: new Date(fleet.sim.now).toISOString() });
    fleet.sim.reconcile();
    assert.equal(told().length, 2);
    assert.ok(told().every((name) => (fleet.node(name).spec?.order ?? 0) === (really.has(name) ? 3 : 2)));
  });
});
