import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOVED_SINCE_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import type { CommitInForce } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { LABEL_GRACE_MS } from '#reconciler/policy/rollout/label-grace.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const ROLLOUT = {
  maxUnavailable: '50%',
  probation: 'full',
  soak: '0s',
  onFailure: { threshold: 1, action: 'halt' as const },
};
const workers = validPool('workers', 100, { rollout: ROLLOUT });

/** What was written to KubeletNodes and Nodes, besides what the reconciler remembers for itself. */
interface Written {
  readonly unassigned: readonly string[];
  readonly others: readonly string[];
}

/** A pool of nodes that settled, whose labels come and go. */
class Labelled {
  readonly fleet = new FleetSimulation();
  private readonly names: readonly string[];

  constructor(nodes: number) {
    this.names = Array.from({ length: nodes }, (_, index) => `n${index}`);
    for (const name of this.names) this.fleet.addNode(nodeView(name, 'workers'));
    this.fleet.inForce = commit(COMMIT_A, workers);
    for (let round = 0; round < 30; round += 1) this.fleet.rounds(1);
    assert.equal(this.phase(), 'Settled');
  }

  phase(): string | undefined {
    return this.fleet.fleet.pools.get('workers')?.status?.phase;
  }

  relabel(names: readonly string[], labels: Readonly<Record<string, string>>): void {
    for (const name of names) this.change(name, () => ({ labels }));
  }

  first(count: number): readonly string[] {
    return this.names.slice(0, count);
  }

  /** Lets time pass by the minute; `restarts`: with a new reconciler each minute. */
  pass(minutes: number, restarts = false): Written {
    const [unassigned, others]: [string[], string[]] = [[], []];
    for (let minute = 0; minute < minutes; minute += 1) {
      if (restarts) this.fleet.restart();
      for (const step of this.fleet.reconcile().steps) {
        if (step.step === 'unassign') unassigned.push(step.node.metadata.name);
        else if (step.step === 'assign' || step.step === 'amend')
          others.push(`${step.step} ${step.node.metadata.name}`);
        else if (step.step === 'untaint') others.push(`untaint ${step.node}`);
      }
      this.fleet.agentsStep();
      this.fleet.now += MINUTE;
    }
    return { unassigned, others };
  }

  change(name: string, how: (view: NodeView) => Partial<NodeView>): void {
    const view = this.fleet.fleet.nodes.get(name);
    if (view !== undefined) this.fleet.addNode({ ...view, ...how(view) });
  }

  mark(name: string): string | undefined {
    return this.fleet.fleet.kubeletNodes.get(name)?.metadata.annotations?.[UNSELECTED_SINCE_ANNOTATION];
  }
}

const NOTHING: Written = { unassigned: [], others: [] };
const GRACE = LABEL_GRACE_MS / MINUTE;
const allowing = (maxUnassign: number | string, inForce: CommitInForce): CommitInForce => ({
  ...inForce,
  repo: { ...inForce.repo, cluster: { ...DEFAULT_CLUSTER, maxUnassign } },
});

describe('a node whose labels put it into no pool any more', () => {
  it('keeps its config where they come back within the grace period, and nothing is left of it', () => {
    const world = new Labelled(10);
    world.relabel(['n3'], {});
    assert.deepEqual(world.pass(5), NOTHING);
    assert.notEqual(world.mark('n3'), undefined);
    world.relabel(['n3'], { pool: 'workers' });
    assert.deepEqual(world.pass(2 * GRACE), NOTHING);
    assert.deepEqual([world.mark('n3'), world.phase()], [undefined, 'Settled']);
  });

  it('has the whole grace period again each time', () => {
    const world = new Labelled(10);
    for (let time = 0; time < 4; time += 1) {
      world.relabel(['n3'], {});
      assert.deepEqual(world.pass(GRACE - 1), NOTHING);
      world.relabel(['n3'], { pool: 'workers' });
      assert.deepEqual(world.pass(1), NOTHING);
    }
  });

  it('is not sent back sooner or later for a reconciler that restarts every minute', () => {
    const world = new Labelled(10);
    world.relabel(['n3'], {});
    assert.deepEqual(world.pass(1), NOTHING);
    assert.deepEqual(world.pass(GRACE - 1, true), NOTHING);
    assert.deepEqual(world.pass(1, true).unassigned, ['n3']);
    assert.deepEqual(world.pass(30, true).unassigned, []);
  });

  it('counts from now where the time that was kept lies ahead', () => {
    const world = new Labelled(10);
    world.relabel(['n3'], {});
    world.pass(1);
    const node = world.fleet.fleet.kubeletNodes.get('n3');
    assert.ok(node !== undefined);
    const annotations = { [UNSELECTED_SINCE_ANNOTATION]: toTimestamp(world.fleet.now + 365 * 86_400_000) };
    const ahead = { ...node, metadata: { ...node.metadata, annotations } };
    const kubeletNodes = new Map([...world.fleet.fleet.kubeletNodes, ['n3', ahead]]);
    world.fleet.fleet = { ...world.fleet.fleet, kubeletNodes };
    world.fleet.restart();
    assert.deepEqual(world.pass(GRACE), NOTHING);
    assert.deepEqual(world.pass(1).unassigned, ['n3']);
  });

  it('is told of in the status of its pool', () => {
    const world = new Labelled(10);
    world.relabel(['n3'], {});
    world.pass(1);
    const { phase, holds } = world.fleet.fleet.pools.get('workers')?.status ?? {};
    assert.equal(phase, 'Waiting');
    assert.deepEqual(
      holds?.map(({ reason, nodes, examples }) => [reason, nodes, examples]),
      [['unselected', 1, ['n3']]],
    );
    assert.match(holds?.[0]?.message ?? '', /^no pool selects it; it keeps its config until 2026-.*Z, in case/);
  });

  it('leaves at once where a commit takes its pool away, or the pool lets go of its labels', () => {
    const gone = new Labelled(3);
    gone.fleet.inForce = commit(COMMIT_B, validPool('other', 1));
    assert.equal(gone.pass(1).unassigned.length, 1);
    const narrowed = new Labelled(3);
    narrowed.relabel(['n0', 'n1'], { pool: 'workers', new: 'yes' });
    const nodeSelector = { matchLabels: { new: 'yes' } };
    narrowed.fleet.inForce = commit(COMMIT_B, validPool('workers', 100, { rollout: ROLLOUT, nodeSelector }));
    assert.deepEqual(narrowed.pass(1).unassigned, ['n2']);
    const guarded = new Labelled(3);
    guarded.relabel(['n0', 'n1'], {});
    assert.deepEqual(guarded.pass(60), NOTHING);
    guarded.fleet.inForce = commit(COMMIT_B, validPool('other', 1));
    assert.deepEqual([...guarded.pass(30).unassigned].sort(), ['n0', 'n1', 'n2']);
  });
});

describe('more nodes than maxUnassign allows that lose their labels', () => {
  it('keep their configs for as long as it takes, also through restarts, and that is told', () => {
    const world = new Labelled(100);
    world.relabel(world.first(40), {});
    assert.deepEqual(world.pass(120), NOTHING);
    assert.deepEqual(world.pass(60, true), NOTHING);
    const { labelLoss } = world.fleet.reconcile().nodes;
    assert.match(
      labelLoss ?? '',
      /^40 of 100 assigned nodes have lost the labels .*\(n0, n1, n2 …\), and maxUnassign allows 20/,
    );
    const { phase, holds } = world.fleet.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, holds?.[0]?.reason, holds?.[0]?.nodes], ['Waiting', 'unselected', 40]);
    assert.equal(holds?.[0]?.message, labelLoss);
  });

  it('are settled again when the labels are back', () => {
    const world = new Labelled(100);
    world.relabel(world.first(40), {});
    world.pass(60);
    world.relabel(world.first(40), { pool: 'workers' });
    assert.deepEqual(world.pass(60), NOTHING);
    assert.equal(world.phase(), 'Settled');
    assert.equal(world.fleet.reconcile().nodes.labelLoss, null);
  });

  it('are let go by a commit that raises it: each once', () => {
    const world = new Labelled(100);
    world.relabel(world.first(40), {});
    world.pass(60);
    world.fleet.inForce = allowing('40%', commit(COMMIT_B, workers));
    assert.deepEqual([...world.pass(60).unassigned].sort(), [...world.first(40)].sort());
  });
});

describe('a Node that registered again and has no role label yet', () => {
  const register = (world: Labelled, name: string, uid: string): void =>
    world.change(name, () => ({
      uid,
      labels: {},
      gated: true,
      createdAt: world.fleet.now,
      readySince: world.fleet.now,
    }));

  /** The agent reports what its kubelet runs, into the new KubeletNode. */
  function reports(world: Labelled, name: string): void {
    world.fleet.reconcile();
    world.fleet.reconcile();
    const running = { name: workers.configName, sha256: workers.sha256, apply: 'overlay' as const };
    world.fleet.report(name, {
      phase: 'Idle',
      active: running,
      assigned: running,
      lastKnownGood: running,
      promotedAt: toTimestamp(world.fleet.now),
      heartbeat: toTimestamp(world.fleet.now),
    });
  }

  it('keeps its config and its taint until its labels come', () => {
    const world = new Labelled(10);
    register(world, 'n3', 'another');
    reports(world, 'n3');
    assert.deepEqual(world.pass(GRACE - 1), NOTHING);
    world.relabel(['n3'], { pool: 'workers' });
    assert.deepEqual(world.pass(2), { unassigned: [], others: ['assign n3', 'untaint n3'] });
  });

  it('is sent back once when they do not come, whatever restarts meanwhile', () => {
    const world = new Labelled(10);
    register(world, 'n3', 'another');
    reports(world, 'n3');
    assert.deepEqual(world.pass(GRACE, true), NOTHING);
    assert.deepEqual(world.pass(30, true).unassigned, ['n3']);
  });

  it('keeps its config where forty do so at once', () => {
    const world = new Labelled(100);
    for (const name of world.first(40)) register(world, name, `again-${name}`);
    for (const name of world.first(40)) reports(world, name);
    assert.deepEqual(world.pass(60), NOTHING);
  });

  it('keeps its taint through restarts of the reconciler, and gets pods once when no pool wants it', () => {
    const world = new Labelled(10);
    world.fleet.addNode(nodeView('new', 'nobody', { gated: true, createdAt: world.fleet.now }));
    assert.deepEqual(world.pass(1), NOTHING);
    assert.deepEqual(world.pass(GRACE - 1, true), NOTHING);
    assert.deepEqual(world.pass(30, true).others, ['untaint new']);
  });
});

describe('the grace period for labels', () => {
  /** What is written in the last millisecond of it, and what when it is over, to the millisecond. */
  function atItsEnd(world: Labelled): readonly (readonly string[])[] {
    const since = world.fleet.now;
    world.fleet.reconcile();
    return [since + LABEL_GRACE_MS - 1, since + LABEL_GRACE_MS].map((now) => {
      world.fleet.now = now;
      const { steps } = world.fleet.reconcile();
      return steps.flatMap(({ step }) => (step === 'unassign' || step === 'untaint' ? [step] : []));
    });
  }

  it('ends after ten minutes for a node that has a config, not a millisecond before', () => {
    const world = new Labelled(10);
    world.relabel(['n3'], {});
    assert.equal(LABEL_GRACE_MS, 600_000, 'docs/rollouts.md and docs/reference/settings.md say so');
    assert.deepEqual(atItsEnd(world), [[], ['unassign']]);
  });

  it('ends after ten minutes for a new node with the taint, not a millisecond before', () => {
    const world = new Labelled(10);
    world.fleet.addNode(nodeView('new', 'nobody', { gated: true, createdAt: world.fleet.now }));
    assert.deepEqual(atItsEnd(world), [[], ['untaint']]);
  });
});

describe('nodes whose labels put them into another pool', () => {
  const others = validPool('others', 200, { rollout: ROLLOUT });
  const OTHERS = { pool: 'others' };

  /** Twenty nodes of one pool, and five of another: five may move. */
  function twoPools(): Labelled {
    const world = new Labelled(20);
    for (let index = 0; index < 5; index += 1) world.fleet.addNode(nodeView(`o${index}`, 'others'));
    world.fleet.inForce = commit(COMMIT_B, workers, others);
    world.pass(30);
    for (const name of ['workers', 'others'])
      assert.equal(world.fleet.fleet.pools.get(name)?.status?.phase, 'Settled', name);
    return world;
  }

  const markOf = (world: Labelled, name: string): string | undefined =>
    world.fleet.fleet.kubeletNodes.get(name)?.metadata.annotations?.[MOVED_SINCE_ANNOTATION];
  const told = ({ others: written }: Written): number =>
    new Set(written.filter((what) => what.startsWith('assign'))).size;

  it('get its config in turns where they are no more than maxUnassign allows', () => {
    const world = twoPools();
    world.relabel(world.first(5), OTHERS);
    assert.equal(told(world.pass(90)), 5);
    assert.equal(world.fleet.fleet.pools.get('others')?.status?.phase, 'Settled');
    assert.equal(markOf(world, 'n0'), undefined);
  });

  for (const restarts of [false, true]) {
    it(`keep theirs where they are more, and that is told${restarts ? ', whoever reconciles' : ''}`, () => {
      const world = twoPools();
      world.relabel(world.first(6), OTHERS);
      const written = world.pass(60, restarts);
      assert.deepEqual(written, NOTHING);
      assert.notEqual(markOf(world, 'n0'), undefined);
      const { labelLoss } = world.fleet.reconcile().nodes;
      assert.match(
        labelLoss ?? '',
        /^the labels of 6 of 25 assigned nodes put them into another pool \(n0, n1, n2 …\), no commit does, and maxUnassign allows 5/,
      );
      const { phase, holds } = world.fleet.fleet.pools.get('others')?.status ?? {};
      assert.deepEqual([phase, holds?.[0]?.reason, holds?.[0]?.nodes], ['Waiting', 'relabelled', 6]);
      world.relabel(world.first(6), { pool: 'workers' });
      assert.deepEqual(world.pass(15, restarts), NOTHING);
      assert.deepEqual([markOf(world, 'n0'), world.phase()], [undefined, 'Settled']);
      assert.equal(world.fleet.reconcile().nodes.labelLoss, null);
    });
  }

  it('are let go by a commit that allows more, and by one that itself puts them there', () => {
    const allowed = twoPools();
    allowed.relabel(allowed.first(12), OTHERS);
    assert.deepEqual(allowed.pass(20), NOTHING);
    allowed.fleet.inForce = allowing('50%', commit(COMMIT_A, workers, others));
    assert.equal(told(allowed.pass(90)), 12);
    const meant = twoPools();
    meant.relabel(meant.first(12), { pool: 'workers', new: 'yes' });
    const wide = validPool('others', 200, {
      rollout: { ...ROLLOUT, maxUnavailable: 2 },
      priority: 1_000,
      nodeSelector: { matchLabels: { new: 'yes' } },
    });
    meant.fleet.inForce = commit(COMMIT_A, workers, wide);
    const begun = told(meant.pass(1));
    assert.ok(begun > 0 && begun < 12, `${begun} of 12 at first`);
    assert.equal(begun + told(meant.pass(90, true)), 12, 'a restart in the middle does not stop it');
  });

  it('of the same config are told of their new pool: nothing restarts', () => {
    const world = new Labelled(10);
    world.fleet.inForce = commit(COMMIT_B, workers, {
      ...workers,
      name: 'twins',
      spec: validPool('twins', 100, { rollout: ROLLOUT }).spec,
    });
    world.pass(30);
    world.relabel(world.first(10), { pool: 'twins' });
    const written = world.pass(60);
    assert.deepEqual(written.unassigned, []);
    assert.equal(world.fleet.reconcile().nodes.labelLoss, null);
    assert.ok(
      [...world.fleet.restarts.values()].every((count) => count === 1),
      'but for the first config',
    );
  });

  it('that a joiner has from the beginning are no move', () => {
    const world = twoPools();
    for (let index = 0; index < 15; index += 1) world.fleet.addNode(nodeView(`new${index}`, 'others'));
    assert.equal(told(world.pass(120)) >= 15, true);
    assert.equal(world.fleet.reconcile().nodes.labelLoss, null);
  });
});
