import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { NodeSize } from '#reconciler/policy/allocatable/allocatable.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, NOW, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { steps } from './support/drive-fleet.ts';
import { holdsOf } from './support/settled-fleet.ts';

const MINUTE = 60_000;
const MI = 2 ** 20;
const AMOUNTS = { cpu: '4', memory: '4Gi', pods: '110' };
const SIZE: NodeSize = { kubeletVersion: 'v1.36.2', capacity: AMOUNTS, allocatable: AMOUNTS };
const vital = (memory: number) => ({ count: 3, requests: { cpu: 0, memory: memory * MI, 'ephemeral-storage': 0 } });
const DRAINS: Partial<KubeletPoolSpec> = { disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } };
const EVICTS = { evictionHard: { 'memory.available': '99%' } };

/** Two nodes that settled, of which the first needs 50Mi and the second 20Mi, and a commit that leaves 41Mi. */
function story(
  spec: Partial<KubeletPoolSpec> = {},
  fields: Readonly<Record<string, unknown>> = EVICTS,
): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['n1', 'n2']) fleet.addNode(nodeView(name, 'workers', { size: SIZE }));
  fleet.inForce = commit(COMMIT_A, validPool('workers', 110, spec));
  fleet.rounds(12);
  fleet.inForce = commit(COMMIT_B, validPool('workers', 110, spec, fields));
  fleet.running = new Map([
    ['n1', 3],
    ['n2', 3],
  ]);
  fleet.vital = new Map([
    ['n1', vital(50)],
    ['n2', vital(20)],
  ]);
  fleet.reconcile();
  return fleet;
}

function later(fleet: FleetSimulation, ms: number): void {
  fleet.now += ms;
  for (const name of fleet.fleet.nodes.keys()) fleet.beat(name);
}

describe('a config that would lock the agent out of its node', () => {
  it('is not assigned, and the status has the arithmetic; nodes that have room go on', () => {
    const fleet = story();
    assert.deepEqual(steps(fleet), ['count-pods n1']);
    assert.deepEqual(steps(fleet), ['count-pods n2'], 'what is held takes no place');
    assert.match(
      holdsOf(fleet).join('\n'),
      /^lock-out: .*40Mi memory would be left \(4096Mi - evictionHard 4056Mi\), and its 3 critical and DaemonSet pods request 50Mi: after a restart/m,
    );
    assert.deepEqual(steps(fleet), ['assign n2']);
    fleet.rounds(6);
    assert.equal(fleet.fleet.kubeletNodes.get('n1')?.spec?.commit, COMMIT_A);
    assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Waiting');
  });

  it('is held without a break, and counted again after ten minutes, so that it goes on when there is room', () => {
    const fleet = story();
    for (const _ of [1, 2, 3]) steps(fleet);
    fleet.rounds(6);
    later(fleet, 9 * MINUTE);
    fleet.vital.set('n1', vital(20));
    assert.deepEqual(steps(fleet), []);
    later(fleet, 2 * MINUTE);
    assert.deepEqual(steps(fleet), ['count-pods n1']);
    assert.match(holdsOf(fleet).join('\n'), /^lock-out: /);
    assert.deepEqual(steps(fleet), ['assign n1']);
  });

  it('is not looked for where the pool does not allow the change anyway', () => {
    const fleet = story({}, { ...EVICTS, cpuManagerPolicy: 'static', reservedSystemCPUs: '0' });
    assert.deepEqual(steps(fleet), []);
    assert.match(holdsOf(fleet).join('\n'), /needs the node to be drained/);
    assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Waiting');
  });

  it('is looked for again where a node had room a minute ago: pods come and go', () => {
    const fleet = story();
    fleet.vital.set('n1', vital(20));
    assert.deepEqual(steps(fleet), ['count-pods n1']);
    later(fleet, MINUTE + 1);
    assert.deepEqual(steps(fleet), ['count-pods n1']);
    later(fleet, MINUTE);
    assert.deepEqual(steps(fleet), ['assign n1']);
  });

  it('is looked for again where the clock was set back since', () => {
    const fleet = story();
    fleet.vital.set('n1', vital(20));
    assert.deepEqual(steps(fleet), ['count-pods n1']);
    fleet.own -= 60 * MINUTE;
    assert.deepEqual(steps(fleet), ['count-pods n1']);
    assert.deepEqual(steps(fleet), ['assign n1']);
  });

  it('is found before the node is asked, cordoned or drained for it', () => {
    const fleet = story(DRAINS, { ...EVICTS, topologyManagerScope: 'pod' });
    assert.deepEqual(steps(fleet), ['count-pods n1']);
    assert.deepEqual(steps(fleet), ['count-pods n2']);
    assert.deepEqual(steps(fleet), ['cordon n2']);
    assert.deepEqual(steps(fleet), ['evict n2']);
    later(fleet, 2 * MINUTE);
    assert.deepEqual(steps(fleet), ['evict n2'], 'it is not counted again while it is drained');
  });

  it('is kept from a new node, which would get at once what its pool settled on', () => {
    const fleet = story({}, EVICTS);
    fleet.vital.set('n1', vital(20));
    later(fleet, 20 * MINUTE);
    for (let round = 0; round < 12; round += 1) fleet.rounds(1);
    assert.equal(fleet.fleet.kubeletNodes.get('n1')?.spec?.commit, COMMIT_B);
    fleet.addNode(nodeView('n3', 'workers', { size: SIZE, createdAt: fleet.now, firstSeen: fleet.now }));
    fleet.running.set('n3', 3);
    fleet.vital.set('n3', vital(50));
    const seen = [...Array(4).keys()].flatMap(() => steps(fleet));
    assert.deepEqual(seen, ['count-pods n3']);
    assert.match(holdsOf(fleet).join('\n'), /^lock-out: /);
  });

  it('is kept from a node in the middle of a change, with these words', () => {
    const fleet = new FleetSimulation();
    fleet.addNode(nodeView('n1', 'workers', { size: SIZE }));
    fleet.running = new Map([['n1', 3]]);
    fleet.vital = new Map([['n1', vital(50)]]);
    fleet.inForce = commit(COMMIT_A, validPool('workers', 110));
    for (let round = 0; round < 4 && !steps(fleet).includes('assign n1'); round += 1);
    fleet.inForce = commit(COMMIT_B, validPool('workers', 110, {}, EVICTS));
    fleet.reconcile();
    fleet.now += 16 * 60_000;
    fleet.beat('n1');
    fleet.reconcile();
    fleet.reconcile();
    assert.match(holdsOf(fleet).join('\n'), /^lock-out: /);
    assert.equal(fleet.fleet.kubeletNodes.get('n1')?.spec?.commit, COMMIT_A);
  });

  it('goes on as a restart where nobody may see pods, or the Node does not say its size', () => {
    const blind = story();
    blind.running = new Map();
    assert.deepEqual(steps(blind), ['assign n1']);
    const unsized = story();
    const { size: _, ...node } = unsized.fleet.nodes.get('n1') ?? nodeView('n1', 'workers');
    unsized.addNode(node);
    assert.deepEqual(steps(unsized), ['assign n1']);
    const forbidden = story();
    forbidden.vital = new Map();
    assert.deepEqual([steps(forbidden), steps(forbidden)], [['count-pods n1'], ['assign n1']]);
  });

  it('counts nothing where no less is left than there is', () => {
    const fleet = story({}, { maxPods: 110, kubeReserved: { memory: '0' } });
    assert.deepEqual(steps(fleet), ['assign n1']);
    assert.ok(fleet.now >= NOW);
  });
});
