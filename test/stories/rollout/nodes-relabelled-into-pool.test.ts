import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const rollout = { ...poolSpec().rollout, maxUnavailable: 2 };
const [before, after] = [validPool('workers', 100, { rollout }), validPool('workers', 110, { rollout })];

/** Three nodes of a pool that settled long ago, and ten as old that are in no pool. */
function settled(): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['a', 'b', 'c']) fleet.addNode(nodeView(name, 'workers'));
  for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`served-${index}`, 'nobody'));
  fleet.inForce = commit(COMMIT_A, before);
  for (let minute = 0; minute < 30; minute += 1) {
    fleet.rounds(2);
    fleet.now += MINUTE;
  }
  assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
  return fleet;
}

const label = (fleet: FleetSimulation): void => {
  for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`served-${index}`, 'workers'));
};

const changing = ({ fleet }: FleetSimulation): number =>
  [...fleet.kubeletNodes.values()].filter(({ status }) => status?.phase === 'Trial').length;

describe('nodes that served before they were labelled into a pool', () => {
  for (const [when, commits] of [
    ['that has settled', false],
    ['in mid-rollout', true],
  ] as const) {
    it(`get its config in its budget, however often the reconciler looks: ${when}`, () => {
      const fleet = settled();
      if (commits) fleet.inForce = commit(COMMIT_B, after);
      label(fleet);
      for (let pass = 0; pass < 20; pass += 1) {
        fleet.reconcile();
        for (const [name, { status }] of fleet.fleet.kubeletNodes) {
          if (status?.phase !== 'Trial') fleet.agentStep(name);
        }
      }
      assert.equal(changing(fleet), 2, 'maxUnavailable');
      for (let minute = 0; minute < 60; minute += 1) {
        fleet.rounds(2);
        fleet.now += MINUTE;
      }
      assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
      assert.equal(fleet.fleet.pools.get('workers')?.status?.counts?.updated, 13);
    });
  }

  it('hold their places after a restart of the reconciler as well', () => {
    const fleet = settled();
    label(fleet);
    for (let pass = 0; pass < 20; pass += 1) {
      fleet.reconcile();
      for (const [name, { status }] of fleet.fleet.kubeletNodes) if (status?.phase !== 'Trial') fleet.agentStep(name);
      fleet.restart();
    }
    assert.equal(changing(fleet), 2);
  });
});
