import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import type { FleetSimulation } from '../../support/fleet-simulation.ts';
import { about, holdsOf, rollout, settledFleet, statusOf, told } from './support/settled-fleet.ts';

const MINUTE = 60_000;

describe('a pool without nodes', () => {
  it('is empty, whatever waves it has, and begins them with the first nodes that join', () => {
    const pool = validPool('workers', 110, rollout({ maxUnavailable: '10%', canary: { nodes: 1, soak: '10m' } }));
    const fleet = settledFleet({}, pool);
    fleet.reconcile();
    fleet.reconcile();
    assert.deepEqual([statusOf(fleet)?.phase, statusOf(fleet)?.settled], ['Empty', undefined]);
    for (const name of ['n1', 'n2', 'n3']) fleet.addNode(nodeView(name, 'workers'));
    fleet.rounds(5);
    assert.deepEqual(told(fleet), { n1: pool.configName, n2: 'local', n3: 'local' });
  });
});

describe('a pool with fewer nodes than canaries', () => {
  it('changes them all as canaries, within its budget, and settles', () => {
    const spec = rollout({ maxUnavailable: 1, canary: { nodes: 5 }, steps: [{ nodes: '50%' }] });
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, validPool('workers', 110, spec));
    const next = validPool('workers', 120, spec);
    fleet.inForce = commit(COMMIT_B, next);
    fleet.rounds(12);
    assert.deepEqual(told(fleet), { n1: next.configName, n2: next.configName });
    assert.equal(statusOf(fleet)?.phase, 'Settled');
  });
});

describe('a budget for each zone', () => {
  it('counts nodes without a zone label as one zone, and says so', () => {
    const spec = rollout({ maxUnavailable: 4, maxUnavailablePerZone: 1 });
    const fleet = settledFleet({ n1: 'workers', n2: 'workers', n3: 'workers' }, validPool('workers', 110, spec));
    fleet.inForce = commit(COMMIT_B, validPool('workers', 120, spec));
    fleet.reconcile();
    assert.equal(about(fleet.reconcile().steps, 'assign').length, 1);
    assert.deepEqual(holdsOf(fleet), ['zone-budget: maxUnavailablePerZone allows 1 among nodes without a zone label']);
  });
});

describe('a window that never opens', () => {
  it('because another one denies it holds every node, and says which', () => {
    const windows = {
      allow: [{ cron: '0 2 * * *', duration: '1h' }],
      deny: [{ cron: '0 0 * * *', duration: '24h' }],
      overrun: 'stop',
    } as const;
    const fleet = settledFleet({ n1: 'workers' }, validPool('workers', 110));
    fleet.inForce = commit(COMMIT_B, validPool('workers', 120, rollout({ windows })));
    fleet.reconcile();
    fleet.now += 14 * 60 * MINUTE;
    fleet.beat('n1');
    assert.deepEqual(about(fleet.reconcile().steps, 'assign'), []);
    assert.match(holdsOf(fleet).join(), /^window: .*0 0 \* \* \*/);
  });
});

describe('the same payload applied in another way', () => {
  const spec = { maxUnavailable: 3, canary: { nodes: 1, soak: '10m' }, soak: '0s' } as const;
  const applied = (apply: 'overlay' | 'replace'): ValidPool => validPool('workers', 110, { ...rollout(spec), apply });

  it('goes through the waves again', () => {
    const fleet = settledFleet({ n1: 'workers', n2: 'workers', n3: 'workers' }, applied('overlay'));
    fleet.now += 11 * MINUTE;
    for (const name of ['n1', 'n2', 'n3']) fleet.beat(name);
    fleet.rounds(12);
    assert.equal(statusOf(fleet)?.phase, 'Settled');
    fleet.inForce = commit(COMMIT_B, applied('replace'));
    fleet.reconcile();
    assert.deepEqual(
      [...fleet.fleet.kubeletNodes.values()].map(({ spec }) => spec?.apply ?? '').sort(),
      ['overlay', 'overlay', 'replace'],
      'one canary',
    );
    assert.deepEqual(
      statusOf(fleet)?.rollout?.waves.map(({ name, state }) => `${name} ${state}`),
      ['canary waiting', 'rest waiting'],
    );
  });

  it('goes on where the other way was halted', () => {
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, validPool('workers', 100));
    const bad = validPool('workers', 110, { apply: 'replace' });
    fleet.deadly.add(bad.sha256);
    fleet.inForce = commit(COMMIT_A, bad);
    fleet.rounds(6);
    assert.deepEqual([statusOf(fleet)?.phase, statusOf(fleet)?.halt?.apply], ['Halted', 'replace']);
    fleet.inForce = commit(COMMIT_B, validPool('workers', 110));
    fleet.reconcile();
    assert.equal(statusOf(fleet)?.halt, undefined);
  });
});

describe('a node of the control plane', () => {
  const MASTER = { 'node-role.kubernetes.io/control-plane': '' };
  const pool = (maxPods: number): ValidPool => validPool('workers', maxPods);

  /** One master that is to change, and another one that is in no pool. */
  function beside(other: Readonly<Record<string, string>>): FleetSimulation {
    const fleet = settledFleet({ m1: 'workers' }, pool(110));
    fleet.addNode(nodeView('m1', 'workers', { labels: { pool: 'workers', ...MASTER } }));
    fleet.addNode(nodeView('m2', '', { labels: { ...other, ...MASTER } }));
    fleet.rounds(4);
    return fleet;
  }

  it('waits while another one is not Ready, though no pool selects that one', () => {
    const fleet = beside({});
    fleet.addNode(nodeView('m2', '', { labels: MASTER, ready: false }));
    fleet.inForce = commit(COMMIT_B, pool(120));
    fleet.rounds(3);
    assert.deepEqual(told(fleet)['m1'], pool(110).configName);
    assert.match(holdsOf(fleet).join(), /^control-plane/);
    fleet.addNode(nodeView('m2', '', { labels: MASTER }));
    fleet.rounds(3);
    assert.deepEqual(told(fleet)['m1'], pool(120).configName);
  });

  it('waits while another one ends a trial, though a person opted that one out in the middle of it', () => {
    const fleet = beside({ pool: 'workers' });
    fleet.inForce = commit(COMMIT_B, pool(120));
    fleet.reconcile();
    fleet.reconcile();
    const [first = ''] = Object.entries(told(fleet)).flatMap(([name, config]) =>
      config === pool(120).configName ? [name] : [],
    );
    const node = fleet.fleet.nodes.get(first);
    assert.ok(node !== undefined, 'one was told');
    fleet.addNode({ ...node, labels: { ...node.labels, 'kubelet-gitops.dev/opt-out': 'true' } });
    assert.deepEqual(about(fleet.reconcile().steps, 'assign'), []);
    fleet.agentStep(first);
    fleet.agentStep(first);
    assert.equal(about(fleet.reconcile().steps, 'assign').length, 1);
  });
});
