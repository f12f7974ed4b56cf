import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKubeletMeasures } from '#agent/observe/kubelet-measures.ts';
import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION, MEASURE_ANNOTATION, RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { AnalysisSpec, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { QueryAnswers } from '#reconciler/policy/analysis/query-answer.ts';
import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const NODES = 30;
const [GOOD, TRIED] = [110, 120];

interface World {
  readonly sim: FleetSimulation;
  /** Minute by minute: the reconciler decides, agents take a step and tell what they measured. */
  run(count: number): Promise<void>;
  commits(maxPods: number, analysis?: AnalysisSpec | null): void;
  status(): KubeletPoolStatus;
  exposed(): number;
  marks(): number;
}

/** A pool whose nodes use a tenth of a core, and with the tried config as many cores as `cores` says. */
async function world(
  cores: number,
  measures = true,
  analysis: AnalysisSpec | null = { timeout: '30m' },
  pause = false,
): Promise<World> {
  const sim = new FleetSimulation();
  const names = Array.from({ length: NODES }, (_, index) => `n${index}`);
  for (const name of names) sim.addNode(nodeView(name, 'workers'));
  const used = new Map<string, number>();
  const agents = new Map(names.map((name) => [name, createKubeletMeasures()]));
  const poolOf = (maxPods: number, own = analysis) =>
    validPool('workers', maxPods, {
      rollout: {
        ...poolSpec().rollout,
        maxUnavailable: '100%',
        canary: { nodes: 1, pause },
        ...(own === null ? {} : { analysis: own }),
      },
    });
  const tried = poolOf(TRIED).sha256;
  const measure = async (name: string): Promise<void> => {
    const node = sim.fleet.kubeletNodes.get(name);
    const sha256 = node?.status?.active?.sha256;
    const cpu = (used.get(name) ?? 0) + 60 * (sha256 === tried ? cores : 0.1);
    used.set(name, cpu);
    const told = await agents.get(name)?.(
      {
        mark: node?.metadata.annotations?.[MEASURE_ANNOTATION],
        sha256,
        run: `with ${sha256}`,
        at: sim.now,
      },
      () => Promise.resolve({ counters: { process_cpu_seconds_total: cpu }, outOfMemory: 0, reserved: 0.1, minor: 34 }),
    );
    if (node?.status !== undefined && told !== undefined) sim.report(name, { ...node.status, measures: told });
  };
  const run = async (count: number): Promise<void> => {
    for (let minute = 0; minute < count; minute += 1) {
      sim.rounds(1);
      if (measures) await Promise.all(names.map(measure));
      sim.now += 60_000;
    }
  };
  const status = (): KubeletPoolStatus => sim.fleet.pools.get('workers')?.status ?? {};
  const commits = (maxPods: number, own?: AnalysisSpec | null): void => {
    sim.inForce = commit(maxPods === GOOD ? COMMIT_A : COMMIT_B, poolOf(maxPods, own));
  };
  commits(GOOD);
  await run(60);
  if (approve(sim)) await run(30);
  assert.equal(status().phase, 'Settled');
  commits(TRIED);
  return {
    sim,
    run,
    commits,
    status,
    exposed: () => sim.exposed.get(tried)?.size ?? 0,
    marks: () =>
      [...sim.fleet.kubeletNodes.values()].filter(
        ({ metadata }) => metadata.annotations?.[MEASURE_ANNOTATION]?.startsWith(tried.slice(0, 40)) === true,
      ).length,
  };
}

/** A person approves whatever waits for one. @returns whether something did */
function approve(sim: FleetSimulation): boolean {
  const value = awaitedApprovals(sim.fleet.pools.get('workers')?.status).map(approvalValue)[0];
  if (value !== undefined) sim.annotatePool('workers', { [APPROVE_ANNOTATION]: value });
  return value !== undefined;
}

describe('a rollout whose canaries are compared', () => {
  it('asks a person only once they are, who sees the verdict', async () => {
    const { run, status, exposed, sim } = await world(0.12, true, { timeout: '30m' }, true);
    await run(5);
    assert.deepEqual([status().rollout?.analysis?.verdict, approve(sim)], ['waiting', false]);
    assert.deepEqual(
      status().holds?.map(({ reason, nodes }) => [reason, nodes]),
      [['analysis', NODES - 1]],
    );
    await run(10);
    assert.deepEqual([status().rollout?.analysis?.verdict, exposed(), status().phase], ['pass', 1, 'Waiting']);
    assert.equal(approve(sim), true);
    await run(10);
    assert.deepEqual([exposed(), status().phase], [NODES, 'Settled']);
  });

  it('asks nobody when they are worse', async () => {
    const { run, status, sim } = await world(2, true, { timeout: '30m' }, true);
    await run(32);
    assert.deepEqual([status().phase, approve(sim)], ['Halted', false]);
  });

  it('goes on when they are no worse, and only then', async () => {
    const { run, status, exposed, marks } = await world(0.12);
    await run(5);
    assert.deepEqual([exposed(), status().rollout?.analysis?.verdict, marks()], [1, 'waiting', NODES - 1]);
    assert.deepEqual(
      status().holds?.map(({ reason, nodes }) => [reason, nodes]),
      [['analysis', NODES - 1]],
    );
    await run(10);
    assert.equal(status().rollout?.analysis?.verdict, 'pass');
    assert.equal(status().rollout?.analysis?.message, `1 node compared with ${NODES - 1} nodes that wait`);
    assert.deepEqual([exposed(), status().phase], [NODES, 'Settled']);
  });

  it('halts when they are worse twice, before anybody else has seen the config', async () => {
    const { run, status, exposed, sim } = await world(2);
    await run(12);
    assert.equal(status().rollout?.analysis?.verdict, 'suspect');
    await run(20);
    assert.equal(status().phase, 'Halted');
    assert.match(status().message ?? '', /made its canaries worse: 2 cores for the kubelet, before 0\.1; of/);
    await run(60);
    assert.equal(exposed(), 1);

    const halt = status().halt;
    assert.ok(halt !== undefined);
    sim.annotatePool('workers', { [RELEASE_ANNOTATION]: releaseValue(halt) });
    await run(10);
    assert.deepEqual([exposed(), status().phase], [NODES, 'Settled'], 'a person let it go on');
  });

  it('goes back by itself where the pool says so', async () => {
    const { sim, run, status, exposed } = await world(2);
    const pool = validPool('workers', TRIED, {
      rollout: {
        ...poolSpec().rollout,
        canary: { nodes: 1 },
        analysis: { timeout: '30m' },
        onFailure: { threshold: 1, action: 'revert' },
      },
    });
    sim.inForce = commit(COMMIT_B, pool);
    await run(60);
    assert.deepEqual([exposed(), status().phase], [1, 'Halted']);
    for (const node of sim.fleet.kubeletNodes.values()) assert.notEqual(node.status?.active?.sha256, pool.sha256);
  });

  it('goes back to what the pool settled on without comparing it again', async () => {
    const { run, status, commits, sim } = await world(2);
    await run(60);
    assert.equal(status().phase, 'Halted');
    commits(GOOD);
    await run(5);
    assert.deepEqual([status().phase, status().rollout?.analysis], ['Settled', undefined]);
    for (let turn = 0; turn < 5; turn += 1) {
      commits(TRIED);
      await run(2);
      commits(GOOD);
      await run(3);
      assert.deepEqual([status().phase, status().rollout?.analysis], ['Settled', undefined], `turn ${turn}`);
    }
    const [one] = sim.fleet.kubeletNodes.values();
    assert.equal(one?.status?.active?.sha256, status().settled?.sha256);
  });

  it('goes on comparing, and has proven nothing, where all nodes were cordoned meanwhile', async () => {
    const { sim, run, status, exposed } = await world(2);
    await run(5);
    const views = [...sim.fleet.nodes.values()];
    for (const view of views) sim.addNode({ ...view, cordoned: true });
    await run(2);
    assert.notEqual(status().settled?.sha256, status().rollout?.sha256);
    for (const view of views) sim.addNode(view);
    await run(60);
    assert.deepEqual([exposed(), status().phase], [1, 'Halted']);
  });

  it('goes on without, after the timeout, where agents tell nothing', async () => {
    const { run, status, exposed } = await world(2, false);
    await run(29);
    assert.deepEqual([exposed(), status().rollout?.analysis?.verdict], [1, 'waiting']);
    await run(10);
    assert.equal(status().rollout?.analysis?.verdict, 'unknown');
    assert.match(
      status().rollout?.analysis?.message ?? '',
      /^not enough to compare in time: n\d+ reports no measures$/,
    );
    assert.equal(exposed(), NODES);
  });

  it('compares nothing where the pool does not ask, and takes the annotations away', async () => {
    const { run, status, exposed, commits, sim } = await world(2);
    // In a commit of its own, before the one that changes the config.
    commits(GOOD, null);
    await run(1);
    commits(TRIED, null);
    await run(5);
    assert.deepEqual([exposed(), status().rollout?.analysis], [NODES, undefined]);
    const annotated = [...sim.fleet.kubeletNodes.values()].filter(
      ({ metadata }) => (metadata.annotations?.[MEASURE_ANNOTATION] ?? null) !== null,
    );
    assert.equal(annotated.length, 0);
  });

  it('survives a restart of the reconciler', async () => {
    const { run, status, exposed, sim } = await world(2);
    for (let turn = 0; turn < 20; turn += 1) {
      sim.restart();
      await run(2);
    }
    assert.deepEqual([exposed(), status().phase], [1, 'Halted']);
  });
});

describe('a rollout whose canaries Prometheus is asked about', () => {
  const SPEC: AnalysisSpec = {
    measures: [],
    prometheus: { url: 'http://p:9090', queries: [{ name: 'p99', query: 'x', least: 2 }] },
    timeout: '30m',
  };
  /** What the nodes are like now, by name; before the change each is at 1. */
  const says = (of: (node: string) => number | undefined) => (): QueryAnswers => {
    const names = Array.from({ length: NODES }, (_, index) => `n${index}`);
    const now = names.flatMap((name) => {
      const number = of(name);
      return number === undefined ? [] : [[name, number] as const];
    });
    return new Map([['p99', { before: new Map(names.map((name) => [name, 1])), now: new Map(now) }]]);
  };
  async function asking(prometheus: FleetSimulation['prometheus']): Promise<World & { readonly asked: Set<number> }> {
    const made = await world(0.1, false, SPEC);
    const asked = new Set<number>();
    made.sim.prometheus =
      prometheus &&
      ((pool) => {
        asked.add(made.sim.now - pool.before);
        return prometheus(pool);
      });
    return { ...made, asked };
  }
  const tried = (made: World): ReadonlySet<string> => {
    const sha256 = made.status().rollout?.sha256 ?? '';
    return made.sim.exposed.get(sha256) ?? new Set();
  };

  it('goes on when they are no worse, and asks no more then', async () => {
    const made = await asking(says(() => 1));
    await made.run(15);
    assert.equal(made.status().rollout?.analysis?.message, `p99 is 1, before 1; nodes that wait: ${NODES - 1}`);
    assert.deepEqual([made.exposed(), made.status().phase, made.marks()], [NODES, 'Settled', 0]);
    const known = made.asked.size;
    await made.run(30);
    assert.equal(made.asked.size, known);
    assert.ok(known > 0 && known < 5, `asked ${known} times`);
  });

  it('halts when they are worse twice, with the numbers, before anybody else has seen the config', async () => {
    const made: World & { readonly asked: Set<number> } = await asking(says((node) => (tried(made).has(node) ? 9 : 1)));
    await made.run(90);
    assert.deepEqual([made.exposed(), made.status().phase], [1, 'Halted']);
    assert.match(made.status().message ?? '', /made its canaries worse: p99 is 9, before 1; of 29 nodes that wait 0/);
  });

  it('takes what nodes that wait do, too, for the fleet’s', async () => {
    const made = await asking(says(() => 9));
    await made.run(20);
    assert.deepEqual([made.exposed(), made.status().phase], [NODES, 'Settled']);
  });

  it('waits for one that is away, says how long, then goes on and says that it did', async () => {
    const made = await asking(() => new Map([['p99', { missing: 'no connection' }]]));
    await made.run(29);
    assert.equal(made.exposed(), 1);
    const [hold] = made.status().holds ?? [];
    assert.match(hold?.message ?? '', /^the canaries are compared: p99: no connection \(at most 30m from 20.*Z\)$/);
    await made.run(15);
    assert.equal(made.exposed(), NODES);
    assert.match(made.status().message ?? '', /; its canaries: not enough to compare in time: p99: no connection$/);
  });

  it('waits for the series of its canary', async () => {
    const made: World & { readonly asked: Set<number> } = await asking(
      says((node) => (tried(made).has(node) ? undefined : 1)),
    );
    await made.run(20);
    assert.equal(made.exposed(), 1);
    assert.match(made.status().rollout?.analysis?.message ?? '', /^p99: no series for n\d+$/);
  });

  it('survives restarts of the reconciler, and asks about the same time before', async () => {
    const made: World & { readonly asked: Set<number> } = await asking(says((node) => (tried(made).has(node) ? 9 : 1)));
    const befores = new Set<number>();
    const answer = made.sim.prometheus;
    made.sim.prometheus = (pool) => {
      befores.add(pool.before);
      return answer?.(pool) ?? new Map();
    };
    for (let turn = 0; turn < 30; turn += 1) {
      made.sim.restart();
      await made.run(2);
    }
    assert.deepEqual([made.exposed(), made.status().phase, befores.size], [1, 'Halted', 1]);
  });
});
