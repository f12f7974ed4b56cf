import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { ClusterConfig, ValidPool } from '#reconciler/policy/repo/loaded.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/repo/read-cluster.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const [BASE, OTHER_BASE, DEADLY_BASE] = ['b1', 'b2', 'b666'];
const EIGHT = Array.from({ length: 8 }, (_, index) => `n${index + 1}`);
const NIGHT = { allow: [{ cron: '0 3 * * *', duration: '30m' }], deny: [], overrun: 'stop' } as const;

const poolOf = (name: string, maxPods: number, rollout: Partial<RolloutSpec>, spec: Partial<KubeletPoolSpec> = {}) =>
  validPool(name, maxPods, { rollout: { ...poolSpec().rollout, ...rollout }, ...spec });

/** A cluster in which every node runs its pool's payload and has proven it, before anybody rewrites a file. */
class Rewritten {
  readonly sim = new FleetSimulation();
  /** At most so many nodes were granted a restart that had not ended, at any moment. */
  most = 0;

  constructor(nodes: readonly string[], rollout: Partial<RolloutSpec> = {}, spec: Partial<KubeletPoolSpec> = {}) {
    for (const name of nodes) this.sim.addNode(nodeView(name, 'workers'));
    this.settle(poolOf('workers', 100, { maxUnavailable: 8 }, spec));
    this.commit(poolOf('workers', 100, rollout, spec));
  }

  /** Lets everything come to rest, and begins to count restarts. */
  settle(...pools: readonly ValidPool[]): void {
    this.commit(...pools);
    this.sim.rounds(6);
    this.sim.restarts.clear();
  }

  /** The config source is made, and nodes are told. */
  commit(...pools: readonly ValidPool[]): void {
    this.sim.inForce = commit(COMMIT_A, ...pools);
    this.sim.reconcile();
    this.sim.reconcile();
  }

  withCluster(cluster: Partial<ClusterConfig>): void {
    const { inForce } = this.sim;
    assert.ok(inForce !== null);
    this.sim.inForce = { ...inForce, repo: { ...inForce.repo, cluster: { ...DEFAULT_CLUSTER, ...cluster } } };
  }

  rewrite(base: string, nodes: Iterable<string> = this.sim.fleet.nodes.keys()): void {
    for (const name of nodes) this.sim.rewriteBase(name, base);
  }

  rounds(count: number): void {
    for (let round = 0; round < count; round += 1) {
      this.sim.reconcile();
      this.most = Math.max(this.most, this.atTurn().length);
      this.sim.agentsStep();
      this.most = Math.max(this.most, this.atTurn().length);
    }
  }

  /** By what is written alone: who was granted a restart that has not ended. */
  atTurn(): readonly string[] {
    return [...this.sim.fleet.kubeletNodes].flatMap(([name, { spec, status }]) => {
      const isGranted = spec?.turn !== undefined && spec.turn.seen === status?.awaitsTurn?.seen;
      return isGranted || status?.phase === 'Trial' ? [name] : [];
    });
  }

  restarts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.sim.restarts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  node(name: string): KubeletNode {
    const found = this.sim.fleet.kubeletNodes.get(name);
    assert.ok(found !== undefined);
    return found;
  }

  report(name: string, status: KubeletNodeStatus): void {
    this.sim.report(name, { ...this.node(name).status, ...status });
  }

  holds(): readonly string[] {
    return (this.sim.fleet.pools.get('workers')?.status?.holds ?? []).map(({ reason, nodes }) => `${reason} ${nodes}`);
  }
}

const once = (nodes: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(nodes.map((name) => [name, 1]));

describe('the config files of eight nodes, rewritten at once,', () => {
  for (const maxUnavailable of [1, 3] as const) {
    it(`restart ${maxUnavailable} at a time where so many may be unavailable, and each of them once`, () => {
      const fleet = new Rewritten(EIGHT, { maxUnavailable });
      fleet.rewrite(BASE);
      fleet.rounds(40);
      assert.deepEqual([fleet.most, fleet.sim.granted.length], [maxUnavailable, 8]);
      assert.deepEqual(fleet.restarts(), once(EIGHT));
      assert.deepEqual(fleet.sim.reconcile().steps, [], 'what was granted is said once');
    });
  }

  it('wait for the soak of the one before', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1, soak: '10m' });
    fleet.sim.now += 11 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rewrite(BASE);
    fleet.rounds(10);
    assert.deepEqual(fleet.sim.granted, ['n1']);
    fleet.sim.now += 11 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rounds(10);
    assert.deepEqual(fleet.sim.granted, ['n1', 'n2']);
  });

  it('restart nothing outside of the windows, and in turn within them', () => {
    const fleet = new Rewritten(EIGHT, { windows: NIGHT });
    fleet.rewrite(BASE);
    fleet.rounds(10);
    assert.deepEqual([fleet.sim.granted, fleet.restarts(), fleet.holds()], [[], {}, ['window 8']]);
    const { phase, counts } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, counts?.updated, counts?.drifted], ['Settled', 8, 8], 'they run what they are to run');
    fleet.sim.now += 15 * 60 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rounds(40);
    assert.deepEqual([fleet.most, fleet.restarts()], [1, once(EIGHT)]);
  });

  it('restart nothing in a wave that is finished after its window', () => {
    const windows = { ...NIGHT, overrun: 'finish-wave' } as const;
    const fleet = new Rewritten(EIGHT, { windows });
    fleet.sim.now += 15 * 60 * MINUTE;
    fleet.commit(poolOf('workers', 110, { windows }));
    fleet.sim.agentsStep();
    fleet.rounds(3);
    fleet.sim.now += 60 * MINUTE;
    fleet.sim.agentsStep();
    const updated = [...(fleet.sim.exposed.get(poolOf('workers', 110, {}).sha256) ?? [])];
    assert.ok(updated.length > 0 && updated.length < 8, 'in the middle of the wave');
    fleet.sim.agentsStep();
    fleet.rewrite(BASE, updated);
    fleet.rounds(40);
    assert.equal(fleet.sim.exposed.get(poolOf('workers', 110, {}).sha256)?.size, 8, 'the wave was finished');
    assert.deepEqual(fleet.sim.granted, []);
  });

  it('restart nothing in a pool that a person suspended, or in a cluster whose file says so', () => {
    const fleet = new Rewritten(EIGHT);
    fleet.sim.annotatePool('workers', { [SUSPEND_ANNOTATION]: 'a look at it' });
    fleet.rewrite(BASE);
    fleet.rounds(10);
    assert.deepEqual([fleet.sim.granted, fleet.holds()], [[], ['suspended 8']]);
    fleet.sim.annotatePool('workers', { [SUSPEND_ANNOTATION]: undefined });
    fleet.withCluster({ suspend: true });
    fleet.rounds(10);
    assert.deepEqual([fleet.sim.granted, fleet.holds()], [[], ['suspended 8']]);
  });

  for (const action of ['halt', 'revert'] as const) {
    it(`restart nothing in a pool that failures stopped (${action})`, () => {
      const rollout = { onFailure: { threshold: 1, action } };
      const fleet = new Rewritten(EIGHT, rollout);
      const deadly = poolOf('workers', 666, rollout);
      fleet.sim.deadly.add(deadly.sha256);
      fleet.commit(deadly);
      fleet.rounds(10);
      assert.equal(fleet.sim.fleet.pools.get('workers')?.status?.phase, 'Halted');
      fleet.rewrite(BASE);
      fleet.rounds(10);
      assert.deepEqual(fleet.sim.granted, []);
    });
  }

  it('restart one node where that one fails with the file, and it keeps the file that it had', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1 });
    fleet.sim.deadlyBases.add(DEADLY_BASE);
    fleet.rewrite(DEADLY_BASE);
    fleet.rounds(40);
    assert.deepEqual([fleet.sim.granted, fleet.restarts()], [['n1'], { n1: 2 }], 'with the file, and back');
    const { phase, message, counts } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, counts?.updated, counts?.failed], ['Settled', 8, 0]);
    assert.match(message ?? '', /n2 waits: .*; its restart waits: node n1 failed with this config file of its own/);
    fleet.rewrite(OTHER_BASE);
    fleet.rounds(40);
    assert.deepEqual(fleet.restarts(), { ...once(EIGHT), n1: 3 }, 'another file is tried');
  });

  it('share the bound of the cluster where there are two pools', () => {
    const fleet = new Rewritten(EIGHT.slice(0, 4));
    const gpus = ['g1', 'g2', 'g3', 'g4'];
    for (const name of gpus) fleet.sim.addNode(nodeView(name, 'gpu'));
    const pools = [poolOf('workers', 100, { maxUnavailable: 2 }), poolOf('gpu', 64, { maxUnavailable: 2 })];
    fleet.settle(...pools);
    fleet.withCluster({ maxUnavailable: 1 });
    fleet.rewrite(BASE);
    fleet.rounds(60);
    assert.equal(fleet.most, 1);
    assert.deepEqual(fleet.restarts(), once([...gpus, ...EIGHT.slice(0, 4)].sort()));
  });

  it('restart the control plane one by one, and no node that is not Ready', () => {
    const fleet = new Rewritten([]);
    const labels = { pool: 'workers', 'node-role.kubernetes.io/control-plane': '' };
    const masters = ['m1', 'm2', 'm3'];
    for (const name of masters) fleet.sim.addNode(nodeView(name, 'workers', { labels }));
    for (const name of EIGHT) fleet.sim.addNode(nodeView(name, 'workers'));
    fleet.settle(poolOf('workers', 100, { maxUnavailable: 11 }));
    fleet.sim.addNode(nodeView('n8', 'workers', { ready: false }));
    fleet.rewrite(BASE);
    let most = 0;
    for (let round = 0; round < 20; round += 1) {
      fleet.rounds(1);
      most = Math.max(most, fleet.atTurn().filter((name) => masters.includes(name)).length);
    }
    assert.equal(most, 1);
    assert.deepEqual(fleet.restarts(), once([...masters, ...EIGHT.slice(0, 7)]));
    assert.deepEqual(fleet.holds(), ['not-ready 1']);
  });
});

describe('a node that asks for a restart', () => {
  it('needs none for another payload: the assignment is its turn, and the old one goes with it', () => {
    const fleet = new Rewritten(['n1', 'n2'], { maxUnavailable: 2 });
    fleet.rewrite(BASE, ['n1']);
    fleet.rounds(4);
    assert.equal(fleet.node('n1').spec?.turn?.seen, BASE);
    fleet.rewrite(OTHER_BASE, ['n1']);
    const other = poolOf('workers', 110, { maxUnavailable: 2 });
    fleet.commit(other);
    assert.deepEqual(
      [fleet.node('n1').spec?.turn, fleet.node('n1').spec?.configSource?.sha256],
      [undefined, other.sha256],
    );
    fleet.rounds(6);
    assert.deepEqual([fleet.sim.granted, fleet.restarts()], [['n1'], { n1: 2, n2: 1 }]);
  });

  it('keeps its turn when its pool says something else besides the payload', () => {
    const fleet = new Rewritten(['n1']);
    fleet.rewrite(BASE);
    fleet.sim.reconcile();
    fleet.commit(poolOf('workers', 100, {}, { trial: { duration: '1m', startTimeout: '1m', maxRestarts: 0 } }));
    assert.deepEqual([fleet.node('n1').spec?.turn?.seen, fleet.node('n1').spec?.trial?.duration], [BASE, '1m']);
  });

  it('hears while it waits that its pool only wants drift reported', () => {
    const fleet = new Rewritten(['n1'], { windows: NIGHT });
    fleet.rewrite(BASE);
    fleet.commit(poolOf('workers', 100, { windows: NIGHT }, { drift: 'report' }));
    assert.deepEqual([fleet.node('n1').spec?.drift, fleet.sim.granted], ['report', []]);
  });

  it('is asked again when it has seen something else before it began', () => {
    const fleet = new Rewritten(['n1', 'n2']);
    fleet.rewrite(BASE, ['n1']);
    fleet.sim.reconcile();
    fleet.rewrite(OTHER_BASE, ['n1']);
    fleet.rewrite(BASE, ['n2']);
    fleet.rounds(20);
    assert.deepEqual([fleet.sim.granted, fleet.most], [['n1', 'n1', 'n2'], 1]);
    assert.deepEqual(fleet.restarts(), { n1: 1, n2: 1 });
  });

  it('holds no place while it waits, and one from its turn on until it is settled', () => {
    const fleet = new Rewritten(EIGHT, { windows: NIGHT });
    fleet.rewrite(BASE);
    fleet.rounds(2);
    const first = fleet.sim.reconcile().nodes.groups[0];
    assert.deepEqual(
      first?.group.members.map(({ unavailable, standing }) => `${unavailable} ${standing}`).at(0),
      'false outdated',
    );
    const open = new Rewritten(EIGHT);
    open.rewrite(BASE, ['n1']);
    open.rounds(1);
    open.commit(poolOf('workers', 110, {}));
    assert.deepEqual(
      [...(open.sim.exposed.get(poolOf('workers', 110, {}).sha256) ?? [])],
      ['n1'],
      'only who is in the middle of its restart hears of another payload',
    );
  });

  it('is no new node where its agent lost its state: it waits its turn as everybody does', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1 });
    const local = { name: 'local' };
    for (const [index, name] of EIGHT.entries()) {
      fleet.report(name, {
        phase: index % 2 === 0 ? 'Idle' : 'Staging',
        active: local,
        lastKnownGood: local,
        promotedAt: null,
        awaitsTurn: { reason: 'StateLost', seen: `lost-${name}`, message: 'its agent lost its state' },
      });
    }
    fleet.rounds(1);
    assert.deepEqual(fleet.sim.granted, ['n1']);
    // It tries the config as a new one, but for the turn in its spec.
    fleet.report('n1', { phase: 'Trial' });
    fleet.sim.reconcile();
    assert.deepEqual(fleet.sim.granted, ['n1'], 'a node on trial holds the only place');
    fleet.rounds(40);
    assert.deepEqual([fleet.most, [...fleet.sim.granted].sort()], [1, EIGHT]);
  });

  it('is no new node where it was taken over without a trial: it holds its place in the budget', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1 });
    for (const name of EIGHT) fleet.report(name, { promotedAt: null });
    fleet.report('n8', { phase: 'FallingBack' });
    const next = poolOf('workers', 110, { maxUnavailable: 1 });
    fleet.commit(next);
    assert.deepEqual(
      [...(fleet.sim.exposed.get(next.sha256) ?? [])],
      ['n8'],
      'only who is at it hears of the next one',
    );
  });

  it('soaks first where it has yet to', () => {
    const fleet = new Rewritten(['n1'], { soak: '10m' });
    fleet.rewrite(BASE);
    fleet.rounds(4);
    assert.deepEqual(fleet.sim.granted, []);
    fleet.sim.now += 11 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rounds(4);
    assert.deepEqual(fleet.sim.granted, ['n1']);
  });

  it('keeps no rollout from its end where it has proven the payload', () => {
    const rollout = { canary: { nodes: 1, soak: '5m' }, soak: '0s' };
    const fleet = new Rewritten(['n1', 'n2', 'n3'], rollout);
    fleet.sim.deadlyBases.add(DEADLY_BASE);
    fleet.rewrite(DEADLY_BASE, ['n3']);
    fleet.rounds(6);
    const next = poolOf('workers', 110, rollout);
    fleet.commit(next);
    fleet.rounds(4);
    assert.deepEqual([...(fleet.sim.exposed.get(next.sha256) ?? [])], ['n1'], 'the canary');
    for (let round = 0; round < 6; round += 1) {
      fleet.rewrite(DEADLY_BASE, ['n1']);
      fleet.rounds(4);
      fleet.sim.now += 6 * MINUTE;
      fleet.sim.agentsStep();
    }
    const { phase, settled } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, settled?.sha256], ['Settled', next.sha256]);
  });
});

describe('a pool whose nodes ask for restarts', () => {
  it('has settled on what they all have proven', () => {
    const rollout = { maxUnavailable: 3, windows: NIGHT };
    const fleet = new Rewritten(['n1', 'n2', 'n3'], rollout);
    fleet.sim.now += 15 * 60 * MINUTE;
    fleet.sim.agentsStep();
    const next = poolOf('workers', 110, rollout);
    fleet.commit(next);
    for (let step = 0; step < 3; step += 1) fleet.sim.agentsStep();
    fleet.sim.now += 60 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rewrite(BASE);
    fleet.rounds(2);
    const { phase, settled } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, settled?.sha256, fleet.holds()], ['Settled', next.sha256, ['window 3']]);
  });

  it('is under way until the last of them that may restart has', () => {
    const fleet = new Rewritten(EIGHT, { soak: '5m' });
    const phases: (string | undefined)[] = [];
    fleet.sim.now += 6 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rewrite(BASE);
    for (let round = 0; round < 40; round += 1) {
      fleet.rounds(1);
      const phase = fleet.sim.reconcile().pools.get('workers')?.phase;
      if (phase !== phases.at(-1)) phases.push(phase);
      fleet.sim.now += 2 * MINUTE;
      fleet.sim.agentsStep();
    }
    assert.deepEqual(phases, ['Progressing', 'Settled'], 'its end is told once');
  });
});

describe('an agent of a release that asks for nothing', () => {
  it('is planned for as before, and no spec has a turn in it', () => {
    const fleet = new Rewritten(EIGHT);
    fleet.report('n1', { phase: 'Drifted' });
    assert.deepEqual(
      fleet.sim.reconcile().steps.filter(({ step }) => step !== 'write-pool-status'),
      [],
    );
    fleet.sim.inForce = commit(COMMIT_B, poolOf('workers', 110, {}));
    fleet.rounds(40);
    assert.ok([...fleet.sim.fleet.kubeletNodes.values()].every(({ spec }) => spec?.turn === undefined));
  });
});
