import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { ValidPool } from '#reconciler/policy/repo/loaded.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const ON_WORKERS = { nodeSelector: { matchLabels: { pool: 'workers' } } };
const rollout = (more: Partial<RolloutSpec>) => ({ rollout: { ...poolSpec().rollout, ...more } });

/** Nodes by their pool's label, which run what these pools want. */
function settledFleet(nodes: Readonly<Record<string, string>>, ...pools: readonly ValidPool[]): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const [name, pool] of Object.entries(nodes)) fleet.addNode(nodeView(name, pool));
  fleet.inForce = commit(COMMIT_A, ...pools);
  fleet.rounds(6 * Object.keys(nodes).length);
  return fleet;
}

const told = (fleet: FleetSimulation): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...fleet.fleet.kubeletNodes].map(([name, { spec }]) => [name, spec?.configSource?.name ?? 'local']),
  );
const statusOf = (fleet: FleetSimulation, pool = 'workers') => fleet.fleet.pools.get(pool)?.status;
const holdsOf = (fleet: FleetSimulation, pool = 'workers') =>
  statusOf(fleet, pool)?.holds?.map(({ reason, message }) => `${reason}: ${message}`) ?? [];
const about = (steps: readonly Step[], what: Step['step']): readonly Step[] =>
  steps.filter(({ step }) => step === what);

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

describe('a pool that is renamed', () => {
  it('tells its nodes the new name and restarts none: the payload is the same', () => {
    const [old, renamed] = [validPool('workers', 110), validPool('servers', 110, ON_WORKERS)];
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, old);
    fleet.inForce = commit(COMMIT_B, renamed);
    fleet.reconcile();
    const { steps } = fleet.reconcile();
    assert.deepEqual(
      [about(steps, 'amend').length, about(steps, 'assign').length, about(steps, 'unassign').length],
      [2, 0, 0],
    );
    for (let round = 0; round < 3; round += 1) fleet.reconcile();
    assert.deepEqual([...fleet.fleet.pools.keys()], ['servers'], 'nobody remembers the old one');
    assert.ok(fleet.fleet.configSources.has(old.configName), 'nodes say that they run it');
  });

  it('and fails with another payload leaves every node with what it ran under the old name', () => {
    const revert = rollout({ onFailure: { threshold: 1, action: 'revert' } });
    const old = validPool('workers', 110);
    const fleet = settledFleet({ n1: 'workers', n2: 'workers', n3: 'workers' }, old);
    const bad = validPool('servers', 666, { ...ON_WORKERS, ...revert });
    fleet.deadly.add(bad.sha256);
    fleet.inForce = commit(COMMIT_B, bad);
    fleet.rounds(12);
    assert.equal(statusOf(fleet, 'servers')?.phase, 'Halted');
    assert.deepEqual(told(fleet), { n1: old.configName, n2: old.configName, n3: old.configName });
  });
});

describe('two pools that swap nodes', () => {
  it('change them within the budget of the pool that each goes to, and settle', () => {
    const [one, two] = [validPool('one', 110), validPool('two', 120)];
    const fleet = settledFleet({ a: 'one', b: 'one', c: 'two', d: 'two' }, one, two);
    const { oid, repo } = commit(COMMIT_A, one, two);
    // By their labels, all of them: more than maxUnassign lets go without a word.
    fleet.inForce = { oid, repo: { ...repo, cluster: { ...repo.cluster, maxUnassign: '100%' } } };
    for (const [name, pool] of Object.entries({ a: 'two', b: 'two', c: 'one', d: 'one' }))
      fleet.addNode(nodeView(name, pool));
    assert.deepEqual(
      about(fleet.reconcile().steps, 'assign').map((step) => 'because' in step && step.because),
      ['its turn has come', 'its turn has come'],
      'one of each',
    );
    fleet.rounds(12);
    assert.deepEqual(told(fleet), { a: two.configName, b: two.configName, c: one.configName, d: one.configName });
    assert.deepEqual([statusOf(fleet, 'one')?.phase, statusOf(fleet, 'two')?.phase], ['Settled', 'Settled']);
  });
});

describe('a node that two pools of one priority select', () => {
  it('is let have its pods back when that comes in the middle of its drain, and keeps its config', () => {
    const drains = { disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } } as const;
    const old = validPool('workers', 110, drains);
    const fleet = settledFleet({ n1: 'workers' }, old);
    const next = validPool('workers', 110, drains, { topologyManagerScope: 'pod' });
    fleet.inForce = commit(COMMIT_B, next);
    fleet.reconcile();
    fleet.reconcile();
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, true);
    fleet.inForce = commit(COMMIT_B, next, validPool('rival', 50, ON_WORKERS));
    fleet.reconcile();
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, false);
    fleet.rounds(3);
    assert.deepEqual(told(fleet), { n1: old.configName });
  });
});

describe('a pool that leaves git', () => {
  it('while it is halted gives its nodes their local config back, the failed one included, and is gone', () => {
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, validPool('workers', 110));
    const bad = validPool('workers', 666);
    fleet.deadly.add(bad.sha256);
    fleet.inForce = commit(COMMIT_B, bad);
    fleet.rounds(6);
    assert.equal(statusOf(fleet)?.phase, 'Halted');
    fleet.inForce = commit(COMMIT_A, validPool('other', 1));
    fleet.rounds(12);
    assert.deepEqual(told(fleet), { n1: 'local', n2: 'local' });
    assert.deepEqual([...fleet.fleet.pools.keys()], ['other']);
  });
});

describe('a pool that leaves git in the middle of a drain', () => {
  for (const [name, isForgotten] of [
    ['', false],
    [', and the cluster as well,', true],
  ] as const) {
    it(`${name} lets pods back on and gives its nodes their local config`.trim(), () => {
      const drains = { disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } } as const;
      const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, validPool('workers', 110, drains));
      fleet.inForce = commit(COMMIT_B, validPool('workers', 110, drains, { topologyManagerScope: 'pod' }));
      fleet.reconcile();
      fleet.reconcile();
      assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, true);
      fleet.inForce = commit(COMMIT_A, validPool('other', 1));
      if (isForgotten) fleet.fleet = { ...fleet.fleet, pools: new Map() };
      fleet.rounds(6);
      assert.deepEqual([told(fleet), fleet.fleet.nodes.get('n1')?.cordoned], [{ n1: 'local', n2: 'local' }, false]);
    });
  }
});

describe('a pool that is suspended in the middle of a drain', () => {
  it('lets pods back on, and drains again when it is resumed', () => {
    const drains = { disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } } as const;
    const fleet = settledFleet({ n1: 'workers' }, validPool('workers', 110, drains));
    fleet.inForce = commit(COMMIT_B, validPool('workers', 110, drains, { topologyManagerScope: 'pod' }));
    fleet.reconcile();
    fleet.reconcile();
    fleet.annotatePool('workers', { [SUSPEND_ANNOTATION]: '' });
    assert.equal(about(fleet.reconcile().steps, 'uncordon').length, 1);
    assert.deepEqual(
      [fleet.fleet.nodes.get('n1')?.cordoned, fleet.fleet.nodes.get('n1')?.drainFailed],
      [false, undefined],
    );
    assert.deepEqual(about(fleet.reconcile().steps, 'cordon'), []);
    fleet.annotatePool('workers', { [SUSPEND_ANNOTATION]: undefined });
    assert.equal(about(fleet.reconcile().steps, 'cordon').length, 1);
  });
});

describe('a revert', () => {
  it('to a config whose ConfigMap somebody deleted changes nothing, and says what to do', () => {
    const revert = rollout({ onFailure: { threshold: 1, action: 'revert' } });
    const old = validPool('workers', 110, revert);
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, old);
    const bad = validPool('workers', 666, revert);
    fleet.deadly.add(bad.sha256);
    fleet.inForce = commit(COMMIT_B, bad);
    fleet.reconcile();
    const sources = new Map(fleet.fleet.configSources);
    sources.delete(old.configName);
    fleet.fleet = { ...fleet.fleet, configSources: sources };
    fleet.rounds(8);
    assert.equal(statusOf(fleet)?.phase, 'Halted');
    assert.deepEqual(told(fleet), { n1: bad.configName, n2: old.configName });
    assert.match(
      holdsOf(fleet).join(),
      /no-config-source: somebody deleted or changed the ConfigMap .*: commit a config/,
    );
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
