import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const REBOOTS: DisruptionSpec = {
  allow: ['restart', 'reboot'],
  drainTimeout: '10m',
  reboot: { by: 'systemd', timeout: '1h' },
};
const DRAINED: DisruptionSpec = { ...REBOOTS, allow: ['restart', 'drain', 'reboot'] };

/** Two nodes that settled on a config, and a commit that moves what only a boot moves. */
function story(disruption: DisruptionSpec): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['n1', 'n2']) fleet.addNode(nodeView(name, 'workers'));
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100, { disruption }));
  fleet.rounds(12);
  fleet.inForce = commit(COMMIT_B, validPool('workers', 100, { disruption }, { cgroupRoot: '/pods' }));
  fleet.reconcile();
  return fleet;
}

const said = (step: Step): readonly string[] => {
  if (step.step === 'cordon' || step.step === 'uncordon' || step.step === 'evict') return [`${step.step} ${step.node}`];
  if (step.step !== 'assign' && step.step !== 'amend') return [];
  const { reboot } = step.spec;
  const order = reboot === undefined ? '' : ` rebooted by ${reboot.by} from ${reboot.boot} within ${reboot.timeout}`;
  return [`${step.step} ${step.node.metadata.name}${order}`];
};

const steps = (fleet: FleetSimulation): readonly string[] => fleet.reconcile().steps.flatMap(said);
const held = (fleet: FleetSimulation): string =>
  (fleet.reconcile().pools.get('workers')?.holds ?? []).map(({ reason, message }) => `${reason}: ${message}`).join();
const standing = (fleet: FleetSimulation, node: string): string | undefined =>
  fleet
    .reconcile()
    .nodes.groups.flatMap(({ decisions }) => decisions)
    .find(({ member }) => member.node.name === node)?.member.lifecycle.shown;

describe('a change that takes effect with a boot', () => {
  it('is refused where the pool does not allow it, or does not say how', () => {
    assert.match(
      held(story({ ...REBOOTS, allow: ['restart', 'drain'] })),
      /cgroupRoot needs the machine to be rebooted/,
    );
    const { reboot: _, ...silent } = REBOOTS;
    assert.match(held(story(silent)), /disruption: .*cgroupRoot.*disruption.reboot does not say how/);
  });

  it('is refused while nobody knows which boot the machine is in', () => {
    const fleet = story({ ...REBOOTS, allow: ['restart', 'drain'] });
    for (const [name, node] of fleet.fleet.kubeletNodes) {
      const { bootID: _, ...status } = node.status ?? {};
      fleet.fleet = {
        ...fleet.fleet,
        kubeletNodes: new Map([...fleet.fleet.kubeletNodes, [name, { ...node, status }]]),
      };
    }
    fleet.inForce = commit(COMMIT_B, validPool('workers', 100, { disruption: REBOOTS }, { cgroupRoot: '/pods' }));
    assert.deepEqual(steps(fleet), []);
    assert.match(held(fleet), /has not said which boot/);
  });

  it('reboots one node after the other, and begins the next when the one before has proven itself', () => {
    const fleet = story(REBOOTS);
    assert.deepEqual(steps(fleet), ['assign n1 rebooted by systemd from boot-1 within 1h']);
    for (let turn = 0; turn < 5; turn += 1) {
      fleet.rounds(1);
      assert.equal(standing(fleet, 'n1'), 'updating');
      assert.deepEqual(steps(fleet), [], 'the budget is one, and it is away');
    }
    fleet.reboot('n1');
    fleet.rounds(2);
    assert.deepEqual(steps(fleet), ['assign n2 rebooted by systemd from boot-1 within 1h']);
  });

  it('drains the node before where that is allowed too, and keeps pods off until the config is proven after the boot', () => {
    const fleet = story(DRAINED);
    assert.deepEqual(steps(fleet), ['cordon n1']);
    assert.deepEqual(steps(fleet), ['evict n1']);
    const since = fleet.fleet.nodes.get('n1')?.drain?.at ?? 0;
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['assign n1 rebooted by systemd from boot-1 within 1h']);
    fleet.rounds(1);
    fleet.now += 20 * MINUTE;
    fleet.beat('n2');
    fleet.addNode({ ...nodeView('n1', 'workers'), ready: false, cordoned: true, drain: { config: 'x', at: since } });
    assert.equal(standing(fleet, 'n1'), 'no-agent');
    assert.deepEqual(steps(fleet), [], 'a machine that is down is not uncordoned');
    fleet.addNode({ ...nodeView('n1', 'workers'), cordoned: true, drain: { config: 'x', at: since } });
    assert.deepEqual(steps(fleet), [], 'nor is one that is back before its agent');
    fleet.reboot('n1');
    fleet.rounds(1);
    assert.deepEqual(steps(fleet), []);
    fleet.rounds(1);
    assert.deepEqual(steps(fleet), ['uncordon n1']);
  });

  it('keeps its order through changes of everything else, and gives no second one', () => {
    const fleet = story(REBOOTS);
    steps(fleet);
    const more = { disruption: REBOOTS, trial: { duration: '1m', startTimeout: '1m', maxRestarts: 0 } };
    fleet.inForce = commit(COMMIT_B, validPool('workers', 100, more, { cgroupRoot: '/pods' }));
    fleet.reconcile();
    const order = fleet.fleet.kubeletNodes.get('n1')?.spec;
    assert.deepEqual(order?.reboot, { by: 'systemd', boot: 'boot-1', timeout: '1h' });
    assert.equal(order?.trial?.duration, '1m');
    fleet.reboot('n1');
    assert.deepEqual(steps(fleet), [], 'another reconciler would decide the same: the node was told');
  });

  it('does not come to a node in the middle of another one: that one is finished first', () => {
    const fleet = story({ ...REBOOTS, allow: ['restart'] });
    fleet.inForce = commit(COMMIT_A, validPool('workers', 110, { disruption: REBOOTS }));
    fleet.reconcile();
    assert.deepEqual(steps(fleet), ['assign n1']);
    fleet.agentStep('n1');
    fleet.inForce = commit(COMMIT_B, validPool('workers', 110, { disruption: REBOOTS }, { cgroupRoot: '/pods' }));
    fleet.reconcile();
    fleet.now += 16 * 60_000;
    for (const name of ['n1', 'n2']) fleet.beat(name);
    assert.deepEqual(steps(fleet), []);
    assert.match(held(fleet), /it finishes its present change first/);
    fleet.agentStep('n1');
    assert.deepEqual(steps(fleet), ['assign n1 rebooted by systemd from boot-1 within 1h']);
  });
});
