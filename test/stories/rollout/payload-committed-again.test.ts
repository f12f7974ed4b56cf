import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
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

describe('a payload that is committed again while it soaks', () => {
  it('soaks without the time in which its canary tried another one', () => {
    const soaking = {
      ...rollout,
      onFailure: { threshold: 1, action: 'halt' as const },
      canary: { nodes: 1, soak: '1h' },
    };
    const of = (maxPods: number): ValidPool => validPool('workers', maxPods, { rollout: soaking });
    const [first, next, failing] = [of(100), of(110), of(120)];
    const fleet = new FleetSimulation();
    for (let index = 0; index < 4; index += 1) fleet.addNode(nodeView(`n${index}`, 'workers'));
    fleet.deadly.add(failing.sha256);
    const told = (): number => fleet.exposed.get(next.sha256)?.size ?? 0;
    /** @returns how many minutes passed, `most` or until the rest is told; another canary joins the one that runs it already */
    const minutes = (pool: ValidPool, most: number): number => {
      fleet.inForce = commit(COMMIT_A, pool);
      let passed = 0;
      for (; passed < most && told() < 3; passed += 1) {
        fleet.rounds(3);
        fleet.now += 60_000;
      }
      return passed;
    };
    minutes(first, 120);
    minutes(next, 50);
    minutes(failing, 3);
    assert.equal(fleet.exposed.get(failing.sha256)?.size, 1, 'the canary tried it');
    const waited = minutes(next, 120);
    assert.ok(waited >= 57 && waited <= 63, `${waited} minutes`);
  });
});
