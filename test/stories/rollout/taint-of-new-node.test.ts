import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LABEL_GRACE_MS } from '#reconciler/policy/rollout/label-grace.ts';
import { commit, COMMIT_A, COMMIT_B, invalidPool, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const GATED = { gated: true } as const;

/** A pool of two nodes that settled on a config. */
function settledFleet(): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['n1', 'n2']) fleet.addNode(nodeView(name, 'workers'));
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100));
  fleet.rounds(12);
  return fleet;
}

const join = (fleet: FleetSimulation, name: string, pool = 'workers'): void =>
  fleet.addNode(nodeView(name, pool, { ...GATED, createdAt: fleet.now, readySince: fleet.now }));
const untainted = (fleet: FleetSimulation): readonly string[] =>
  fleet.reconcile().steps.flatMap((step) => (step.step === 'untaint' ? [`${step.node}: ${step.because}`] : []));

describe('a node that comes with our taint', () => {
  it('gets its config at once, whatever windows and budgets say, and pods when that has proven itself: once', () => {
    const fleet = settledFleet();
    const never = { allow: [{ cron: '0 0 30 2 *', duration: '1h' }], deny: [], overrun: 'stop' } as const;
    const rollout = { ...poolSpec().rollout, maxUnavailable: 0, windows: never };
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100, { rollout }));
    join(fleet, 'n3');
    assert.deepEqual(untainted(fleet), []);
    assert.deepEqual(
      fleet.reconcile().steps.flatMap((step) => (step.step === 'assign' ? [step.because] : [])),
      ['it is new, and gets the config that its pool settled on'],
    );
    fleet.agentStep('n3');
    assert.deepEqual(untainted(fleet), [], 'it is on trial');
    fleet.agentStep('n3');
    assert.deepEqual(untainted(fleet), ['n3: its config is proven']);
    assert.deepEqual(untainted(fleet), []);
  });

  it('gets pods when it runs what its pool settled on, though a newer config waits for its turn', () => {
    const fleet = settledFleet();
    fleet.inForce = commit(COMMIT_B, validPool('workers', 110, { suspend: true }));
    join(fleet, 'n3');
    for (let turn = 0; turn < 3; turn += 1) {
      fleet.reconcile();
      fleet.agentStep('n3');
    }
    assert.deepEqual(untainted(fleet), ['n3: it runs what its pool settled on']);
  });

  it('keeps it while it only runs what its pool settled on, and has yet to prove it', () => {
    const fleet = settledFleet();
    fleet.inForce = commit(COMMIT_B, validPool('workers', 110, { suspend: true }));
    join(fleet, 'n3');
    for (let turn = 0; turn < 3; turn += 1) {
      fleet.reconcile();
      fleet.agentStep('n3');
      const { status } = fleet.fleet.kubeletNodes.get('n3') ?? {};
      if (status !== undefined) fleet.report('n3', { ...status, lastKnownGood: { name: 'local' } });
    }
    assert.equal(fleet.fleet.kubeletNodes.get('n3')?.status?.phase, 'Idle');
    assert.deepEqual(untainted(fleet), []);
  });

  it('keeps it while its config fails, while it is not Ready and while it has no agent', () => {
    const fleet = settledFleet();
    join(fleet, 'n3');
    const settled = fleet.fleet.pools.get('workers')?.status?.settled?.sha256 ?? '';
    fleet.deadly.add(settled);
    fleet.rounds(6);
    assert.equal(fleet.fleet.nodes.get('n3')?.gated, true);
    const other = settledFleet();
    join(other, 'n4');
    for (let turn = 0; turn < 6; turn += 1) {
      other.reconcile();
      other.agentStep('n4');
      const node = other.fleet.nodes.get('n4');
      if (node !== undefined) other.addNode({ ...node, ready: false });
    }
    assert.equal(other.fleet.nodes.get('n4')?.gated, true);
  });

  it('gets pods where no pool selects it once its labels had time to come, but not before any commit was read', () => {
    const fleet = settledFleet();
    join(fleet, 'stray', 'nobody');
    const { inForce } = fleet;
    fleet.inForce = null;
    assert.deepEqual(untainted(fleet), []);
    fleet.now += LABEL_GRACE_MS;
    assert.deepEqual(untainted(fleet), []);
    fleet.inForce = inForce;
    assert.deepEqual(untainted(fleet), ['stray: no pool selects it']);
  });

  it('keeps it on trial for a pool that git says something wrong about, where the cluster lost that pool', () => {
    const fleet = settledFleet();
    join(fleet, 'n3');
    fleet.rounds(2);
    assert.equal(fleet.fleet.kubeletNodes.get('n3')?.status?.phase, 'Trial');
    fleet.now += LABEL_GRACE_MS;
    fleet.restart();
    fleet.fleet = { ...fleet.fleet, pools: new Map() };
    fleet.inForce = commit(COMMIT_B, invalidPool('workers'));
    assert.deepEqual(untainted(fleet), []);
  });

  it('keeps it where a person opted it out, and where nobody can say which pool it belongs to', () => {
    const fleet = settledFleet();
    const both = { nodeSelector: { matchLabels: { pool: 'workers' } } };
    fleet.addNode(
      nodeView('out', 'workers', { ...GATED, labels: { pool: 'workers', 'kubelet-gitops.dev/opt-out': 'yes' } }),
    );
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100), validPool('other', 100, both));
    join(fleet, 'n3');
    assert.deepEqual(untainted(fleet), []);
  });
});
