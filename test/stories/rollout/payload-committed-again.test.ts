import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_A, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const { probation: _, ...usual } = poolSpec().rollout;
const rollout = { ...usual, maxUnavailable: 4, onFailure: { threshold: 4, action: 'halt' as const } };
const [good, bad, better] = [100, 110, 120].map((maxPods) => validPool('workers', maxPods, { rollout }));

describe('a payload that is committed again after nodes took it back', () => {
  it('begins with one node, also before the agent of that has heard of it', () => {
    const fleet = new FleetSimulation();
    for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`n${index}`, 'workers'));
    fleet.deadly.add(bad?.sha256 ?? '');
    for (const pool of [good, bad, better]) {
      if (pool !== undefined) fleet.inForce = commit(COMMIT_A, pool);
      fleet.rounds(60);
    }
    const rejected = [...fleet.fleet.kubeletNodes.values()].filter(({ status }) => (status?.rejected ?? []).length > 0);
    assert.equal(rejected.length, 4, 'it was tried before');
    fleet.exposed.clear();
    if (bad !== undefined) fleet.inForce = commit(COMMIT_A, bad);
    for (let pass = 0; pass < 5; pass += 1) fleet.reconcile();
    assert.equal(fleet.exposed.get(bad?.sha256 ?? '')?.size, 1);
  });
});
