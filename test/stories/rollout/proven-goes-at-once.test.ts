import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const NODES = Array.from({ length: 10 }, (_, index) => `n${index}`);
const { rollout } = poolSpec();
/** Nobody goes anywhere fast. */
const CAREFUL: KubeletPoolSpec['rollout'] = {
  ...rollout,
  maxUnavailable: 4,
  maxOnTrial: 1,
  soak: '1h',
  canary: { selector: { matchLabels: { canary: 'yes' } }, soak: '24h' },
  steps: [{ nodes: '50%', soak: '24h' }],
};
const FAST = { ...rollout, maxUnavailable: '100%', probation: 'full' };
const at = (maxPods: number, own = CAREFUL) => validPool('workers', maxPods, { rollout: own });

/** Ten nodes that proved the first of these configs, of which some were told the second. */
function midway(own: typeof CAREFUL = { ...FAST, maxUnavailable: 8 }): FleetSimulation {
  const sim = new FleetSimulation();
  for (const name of NODES) {
    const canary = name === 'n0' ? { canary: 'yes' } : {};
    sim.addNode(nodeView(name, 'workers', { labels: { pool: 'workers', ...canary } }));
  }
  sim.inForce = commit('first', at(100, FAST));
  sim.rounds(30);
  assert.equal(sim.fleet.pools.get('workers')?.status?.phase, 'Settled');
  sim.inForce = commit('looser', at(100, own));
  sim.rounds(2);
  sim.inForce = commit('second', at(110, own));
  sim.rounds(2);
  return sim;
}

const told = (sim: FleetSimulation, maxPods: number): number =>
  [...sim.fleet.kubeletNodes.values()].filter(({ spec }) => spec?.configSource?.sha256 === at(maxPods).sha256).length;

describe('a payload that the pool has proven waits for maxUnavailable alone', () => {
  it('where a commit takes the one after it back in the middle, whatever canaries, steps, soaks and maxOnTrial say', () => {
    const sim = midway();
    assert.equal(told(sim, 110), 8);
    sim.inForce = commit('third', at(100));
    sim.reconcile();
    sim.reconcile();
    // Who is in the middle of a change has its place.
    assert.deepEqual([told(sim, 100), told(sim, 110)], [10, 0]);
  });

  it('of which nodes that promoted the other one take no more than it allows', () => {
    const sim = midway();
    // The last two of them are not changed: the pool has not proven the second config.
    for (const name of NODES.filter(
      (each) => sim.fleet.kubeletNodes.get(each)?.spec?.configSource?.sha256 === at(100).sha256,
    ))
      sim.addNode({ ...(sim.fleet.nodes.get(name) ?? nodeView(name, 'workers')), cordoned: true });
    sim.rounds(10);
    const promoted = [...sim.fleet.kubeletNodes.values()].filter(
      ({ status }) => status?.lastKnownGood?.sha256 === at(110).sha256,
    ).length;
    sim.inForce = commit('third', at(100));
    sim.reconcile();
    sim.reconcile();
    // Two of four places are taken by those that are cordoned.
    assert.deepEqual([promoted, told(sim, 100), told(sim, 110)], [8, 4, 6]);
  });

  it('in an incident as well: a commit that reverts what halted the pool', () => {
    const sim = midway({ ...FAST, maxUnavailable: 8, onFailure: { threshold: 1, action: 'halt' } });
    sim.deadly.add(at(110).sha256);
    sim.rounds(4);
    assert.equal(sim.fleet.pools.get('workers')?.status?.phase, 'Halted');
    sim.inForce = commit('third', at(100));
    sim.reconcile();
    sim.reconcile();
    assert.deepEqual([told(sim, 100), told(sim, 110)], [10, 0]);
  });

  it('by the next process as well, which believes the record as far as nodes show it before the commit goes back to it', () => {
    const [known, late] = [midway(), midway()];
    for (const sim of [known, late]) sim.restart();
    known.reconcile();
    for (const sim of [known, late]) {
      sim.inForce = commit('third', at(100));
      for (let pass = 0; pass < 3; pass += 1) sim.reconcile();
    }
    assert.deepEqual([told(known, 100), told(late, 100)], [10, 2]);
  });

  it('and another one does not', () => {
    const sim = midway();
    sim.inForce = commit('third', at(120));
    sim.reconcile();
    sim.reconcile();
    assert.equal(told(sim, 120) <= 1, true);
  });
});
