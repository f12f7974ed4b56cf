import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { steps } from './support/drive-fleet.ts';
import { holdsOf } from './support/settled-fleet.ts';

const MINUTE = 60_000;
const DRAINS: DisruptionSpec = { allow: ['restart', 'drain'], drainTimeout: '10m' };

/** Nodes that settled on a config, and a commit that moves a field which running pods do not follow. */
function story(disruption?: DisruptionSpec, nodes: readonly string[] = ['n1', 'n2']): FleetSimulation {
  const fleet = new FleetSimulation();
  const spec = disruption === undefined ? {} : { disruption };
  for (const name of nodes) fleet.addNode(nodeView(name, 'workers'));
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100, spec));
  fleet.rounds(12);
  fleet.inForce = commit(COMMIT_B, validPool('workers', 100, spec, { topologyManagerScope: 'pod' }));
  fleet.reconcile();
  return fleet;
}

describe('a change that running pods do not follow', () => {
  it('waits where the pool allows restarts alone, and says which field and what to write', () => {
    const fleet = story();
    assert.deepEqual(steps(fleet), []);
    assert.match(
      holdsOf(fleet).join('\n'),
      /disruption: the change of topologyManagerScope needs the node to be drained: allow it with disruption.allow: \[restart, drain\]/,
    );
  });

  it('cordons a node in its turn, evicts until the pods have left, changes it, and lets pods back on when it is proven', () => {
    const fleet = story(DRAINS);
    assert.deepEqual(steps(fleet), ['cordon n1']);
    assert.deepEqual(steps(fleet), ['evict n1']);
    assert.deepEqual(steps(fleet), ['evict n1'], 'the other node waits: the budget is one');
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['assign n1']);
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, true);
    fleet.rounds(2);
    assert.deepEqual(steps(fleet), ['uncordon n1']);
    assert.deepEqual(steps(fleet), ['cordon n2']);
    assert.equal(fleet.fleet.nodes.get('n1')?.drain, undefined);
  });

  it('comes to its end for the last node of a pool as well, which nobody else holds the wave open for', () => {
    const fleet = story(DRAINS, ['n1']);
    assert.deepEqual(steps(fleet), ['cordon n1']);
    assert.deepEqual(steps(fleet), ['evict n1']);
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['assign n1']);
    fleet.rounds(2);
    assert.deepEqual(steps(fleet), ['uncordon n1']);
    assert.deepEqual(steps(fleet), []);
  });

  it('keeps the pool from having settled until its last node was changed, so that a failure there is taken back', () => {
    const fleet = story(DRAINS);
    const settled = (): string | undefined => fleet.fleet.pools.get('workers')?.status?.settled?.configName;
    const before = settled();
    for (const node of ['n1', 'n2']) {
      while (steps(fleet).join() !== `evict ${node}`) fleet.rounds(1);
      fleet.drained(node);
      if (node === 'n2') break;
      fleet.rounds(4);
    }
    assert.equal(settled(), before, 'n2 is only drained');
    fleet.rounds(6);
    assert.notEqual(settled(), before);
    assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
  });

  it('goes on where it was after another reconciler took over: what it is about is on the Node', () => {
    const fleet = story(DRAINS);
    steps(fleet);
    fleet.drains.clear();
    assert.deepEqual(steps(fleet), ['evict n1']);
  });

  it('is given up when the pods do not leave in time: they are let back on, and it is tried again later', () => {
    const fleet = story(DRAINS);
    steps(fleet);
    fleet.now += 11 * MINUTE;
    for (const name of ['n1', 'n2']) fleet.beat(name);
    const { at: since = 0 } = fleet.fleet.nodes.get('n1')?.drain ?? {};
    fleet.drains.set('n1', { since, drained: false, because: 'shop/cart-0: its budget allows no disruption' });
    assert.deepEqual(steps(fleet), ['uncordon n1']);
    assert.match(
      holdsOf(fleet).join('\n'),
      /its pods did not leave in time: shop\/cart-0: its budget allows no disruption/,
    );
    assert.deepEqual(steps(fleet), ['cordon n2'], 'others go on meanwhile');
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, false);
  });

  it('is given up when somebody lets pods back on in the middle of it, and not begun again at once', () => {
    const fleet = story(DRAINS);
    steps(fleet);
    const node = fleet.fleet.nodes.get('n1');
    if (node !== undefined) fleet.addNode({ ...node, cordoned: false });
    assert.deepEqual(steps(fleet), ['uncordon n1', 'cordon n2'], 'our mark goes, nobody is evicted, and others go on');
    assert.match(holdsOf(fleet).join('\n'), /somebody uncordoned it while it was being drained/);
    assert.deepEqual(steps(fleet), ['evict n2']);
    assert.equal(fleet.fleet.nodes.get('n1')?.drainFailed?.at, fleet.now);
  });

  it('waits for what is unproven all the same: another node may have heard of it while the pods left', () => {
    const other = story(DRAINS);
    for (const expected of [['cordon n1'], ['evict n1']]) assert.deepEqual(steps(other), expected);
    other.drained('n1');
    const told = other.reconcile().steps.find((step) => step.step === 'assign');
    assert.ok(told?.step === 'assign');

    const fleet = story(DRAINS);
    for (const expected of [['cordon n1'], ['evict n1']]) assert.deepEqual(steps(fleet), expected);
    const n2 = fleet.fleet.kubeletNodes.get('n2');
    assert.ok(n2 !== undefined);
    const metadata = { ...n2.metadata, generation: (n2.metadata.generation ?? 0) + 1 };
    const kubeletNodes = new Map([...fleet.fleet.kubeletNodes, ['n2', { ...n2, metadata, spec: told.spec }]]);
    fleet.fleet = { ...fleet.fleet, kubeletNodes };
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['uncordon n1']);
  });

  it('that is not wanted any more uncordons the node', () => {
    const fleet = story(DRAINS);
    steps(fleet);
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100, { disruption: DRAINS }));
    fleet.reconcile();
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, false);
    assert.equal(fleet.fleet.nodes.get('n1')?.drain, undefined);
  });

  it('leaves a node alone that somebody else cordoned', () => {
    const fleet = story(DRAINS);
    for (const name of ['n1', 'n2']) {
      const node = fleet.fleet.nodes.get(name);
      if (node !== undefined) fleet.addNode({ ...node, cordoned: true });
    }
    assert.deepEqual(steps(fleet), []);
    assert.match(holdsOf(fleet).join('\n'), /^cordoned/);
  });

  it('is no more than a restart for a node that runs its local config: nobody knows what changes', () => {
    const fleet = new FleetSimulation();
    fleet.addNode(nodeView('n1', 'workers'));
    fleet.inForce = commit(
      COMMIT_A,
      validPool('workers', 100, { rollout: poolSpec().rollout }, { topologyManagerScope: 'pod' }),
    );
    fleet.reconcile();
    assert.deepEqual(steps(fleet), ['assign n1']);
  });
});

describe('a change that leaves less room than there are pods', () => {
  /** Two nodes that settled on 100 pods, of which the first has 60, and a commit that allows 50. */
  function shrinking(disruption?: DisruptionSpec): FleetSimulation {
    const fleet = new FleetSimulation();
    const spec = disruption === undefined ? {} : { disruption };
    for (const name of ['n1', 'n2']) fleet.addNode(nodeView(name, 'workers'));
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100, spec));
    fleet.rounds(12);
    fleet.inForce = commit(COMMIT_B, validPool('workers', 50, spec));
    fleet.running = new Map([
      ['n1', 60],
      ['n2', 50],
    ]);
    fleet.reconcile();
    fleet.reconcile();
    return fleet;
  }

  it('waits where the pool allows restarts alone, and lets the nodes go on that have room', () => {
    const fleet = shrinking();
    assert.deepEqual(steps(fleet), ['count-pods n2']);
    assert.match(holdsOf(fleet).join('\n'), /maxPods to 50, with 60 pods running, needs the node to be drained/);
    assert.deepEqual(steps(fleet), ['assign n2']);
    fleet.rounds(6);
    fleet.now += 5 * 60_000;
    for (const name of fleet.fleet.nodes.keys()) fleet.beat(name);
    assert.deepEqual(steps(fleet), [], 'who is held is counted again every ten minutes');
    assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Waiting');
  });

  it('drains the node first where that is allowed, until it is drained', () => {
    const fleet = shrinking(DRAINS);
    assert.deepEqual(steps(fleet), ['cordon n1']);
    fleet.running.set('n1', 3);
    fleet.now += 2 * MINUTE;
    for (const name of ['n1', 'n2']) fleet.beat(name);
    assert.deepEqual(steps(fleet), ['evict n1'], 'what is left does not make it a restart');
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['assign n1']);
  });

  it('is a restart where nobody may see pods', () => {
    const fleet = shrinking();
    fleet.running = new Map();
    assert.deepEqual(steps(fleet), ['assign n1']);
  });
});
