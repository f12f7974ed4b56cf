import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { minutes } from './support/drive-fleet.ts';

const rollout = { ...poolSpec().rollout, maxUnavailable: 2 };
const [before, after] = [validPool('workers', 100, { rollout }), validPool('workers', 110, { rollout })];

/** Three nodes of a pool that settled long ago, and ten as old that are in no pool. */
function settled(): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['a', 'b', 'c']) fleet.addNode(nodeView(name, 'workers'));
  for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`served-${index}`, 'nobody'));
  fleet.inForce = commit(COMMIT_A, before);
  minutes(fleet, 30);
  assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
  return fleet;
}

const label = (fleet: FleetSimulation): void => {
  for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`served-${index}`, 'workers'));
};

const changing = ({ fleet }: FleetSimulation): number =>
  [...fleet.kubeletNodes.values()].filter(({ status }) => status?.phase === 'Trial').length;

describe('nodes that served before they were labelled into a pool', () => {
  for (const [when, commits, restarts] of [
    ['that has settled', false, false],
    ['that has settled, whoever reconciles', false, true],
    ['in mid-rollout', true, false],
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
        if (restarts) fleet.restart();
      }
      assert.equal(changing(fleet), 2, 'maxUnavailable');
      minutes(fleet, 60);
      assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
      assert.equal(fleet.fleet.pools.get('workers')?.status?.counts?.updated, 13);
    });
  }
});
