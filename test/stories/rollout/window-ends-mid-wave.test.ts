import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutSpec, WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'];

/** Noon to half past, and it is noon. */
const windows = (overrun: WindowsSpec['overrun']): WindowsSpec => ({
  allow: [{ cron: '0 12 * * *', duration: '30m' }],
  deny: [],
  overrun,
});

/** Five nodes that settled on a config, and at noon a commit with three canaries, one node at a time. */
function story(more: Partial<RolloutSpec>): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of NODES) fleet.addNode(nodeView(name, 'workers'));
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100));
  for (let turn = 0; turn < 24; turn += 1) turnOf(fleet);
  const rollout = { ...poolSpec().rollout, canary: { nodes: 3 }, ...more };
  fleet.inForce = commit(COMMIT_B, validPool('workers', 110, { rollout }));
  fleet.reconcile();
  return fleet;
}

/** @returns the nodes that were told the config */
function turnOf(fleet: FleetSimulation): readonly string[] {
  const { steps } = fleet.reconcile();
  for (const name of NODES) fleet.agentStep(name);
  return steps.flatMap((step) => (step.step === 'assign' ? [step.node.metadata.name] : []));
}

const turns = (fleet: FleetSimulation, count: number): readonly string[] =>
  Array.from({ length: count }, () => turnOf(fleet)).flat();

/** A while goes by, and every agent says that it lives. */
function wait(fleet: FleetSimulation, minutes: number): void {
  fleet.now += minutes * MINUTE;
  for (const name of NODES) fleet.beat(name);
}

const held = (fleet: FleetSimulation): readonly string[] =>
  (fleet.reconcile().pools.get('workers')?.holds ?? []).map(({ reason, nodes }) => `${reason} ${nodes}`);

describe('a window that ends in the middle of a wave', () => {
  it('lets the trial end that was begun, and begins nothing more, unless the pool says otherwise', () => {
    const fleet = story({ windows: windows('stop') });
    assert.deepEqual(turns(fleet, 1), ['n1']);
    wait(fleet, 31);
    assert.deepEqual(turns(fleet, 10), []);
    assert.equal(fleet.fleet.pools.get('workers')?.status?.counts?.updated, 1);
    assert.deepEqual(held(fleet), ['window 4']);
    wait(fleet, 24 * 60 - 31);
    assert.deepEqual(turns(fleet, 1), ['n2'], 'the next noon');
  });

  it('lets the wave that was begun be finished where the pool says so, and no other one begin', () => {
    const fleet = story({ windows: windows('finish-wave') });
    assert.deepEqual(turns(fleet, 1), ['n1']);
    wait(fleet, 31);
    assert.deepEqual(turns(fleet, 20), ['n2', 'n3']);
    assert.deepEqual(held(fleet), ['window 2']);
    wait(fleet, 24 * 60 - 31);
    assert.deepEqual(turns(fleet, 20), ['n4', 'n5']);
  });

  it('does not begin a wave after its end', () => {
    const fleet = story({ windows: windows('finish-wave') });
    wait(fleet, 31);
    assert.deepEqual(turns(fleet, 10), []);
    assert.deepEqual(held(fleet), ['window 5']);
  });
});

describe('an emergency', () => {
  it('sets the windows of the pool and of the cluster aside, and nothing else', () => {
    const fleet = story({ windows: windows('stop'), emergency: 'incident 4711: nodes run out of PIDs' });
    wait(fleet, 31);
    assert.deepEqual(turns(fleet, 1), ['n1']);
    assert.deepEqual(held(fleet), ['budget 4']);
  });
});

describe('the budget of the whole cluster', () => {
  it('holds over all pools, and says which bound it is', () => {
    const fleet = new FleetSimulation();
    for (const name of NODES) fleet.addNode(nodeView(name, name < 'n3' ? 'a' : 'b'));
    const rollout = { ...poolSpec().rollout, maxUnavailable: 5 };
    const pools = ['a', 'b'].map((name) => validPool(name, 100, { rollout }));
    const { oid, repo } = commit(COMMIT_A, ...pools);
    fleet.inForce = { oid, repo: { ...repo, cluster: { ...repo.cluster, maxUnavailable: 3 } } };
    fleet.reconcile();
    assert.deepEqual(turnOf(fleet), ['n1', 'n2', 'n3']);
    const { holds = [] } = fleet.reconcile().pools.get('b') ?? {};
    assert.deepEqual(
      holds.map(({ reason, message }) => `${reason}: ${message}`),
      ["overall-budget: the cluster's maxUnavailable allows 3 over all pools"],
    );
  });
});
