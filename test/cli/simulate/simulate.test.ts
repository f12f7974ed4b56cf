import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { simulationAsSvg } from '#cli/simulate/render-svg.ts';
import { simulationAsText } from '#cli/simulate/render-text.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate, type Simulation } from '#cli/simulate/simulate.ts';
import { lanesOf } from '#cli/simulate/pool-timelines.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { createRepository, layer, pool } from '../support/repository.ts';
import { run } from '../support/run.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, poolSpec, validPool } from '../../support/fleet.ts';
import { column, columns } from '../../support/columns.ts';
import { inventoryNodes } from '../support/inventory-node.ts';

const MINUTE = 60_000;
const TRIAL = { duration: '10m', startTimeout: '2m', maxRestarts: 2 };

const inventory = (count: number) => inventoryNodes(count, 'node-');

const manners = { failureRate: 0, restartMs: 10_000, random: seededRandom(1) };

/** Two commits of one pool each, by which these nodes go from the one to the other. */
const change = (before: ValidPool, after: ValidPool, nodes: readonly InventoryNode[], failureRate = 0, seed = 1) =>
  simulate({
    base: commit(COMMIT_A, before).repo,
    head: commit(COMMIT_B, after).repo,
    nodes,
    manners: { failureRate, restartMs: 10_000, random: seededRandom(seed) },
    start: NOW,
    horizonMs: 48 * 60 * MINUTE,
  });

function play(
  rollout: Partial<RolloutSpec>,
  nodes: number | readonly InventoryNode[],
  failureRate = 0,
  seed = 1,
): Simulation {
  const spec = { rollout: { ...poolSpec().rollout, ...rollout }, trial: TRIAL };
  const [before, after] = [validPool('workers', 100, spec), validPool('workers', 120, spec)];
  return change(before, after, typeof nodes === 'number' ? inventory(nodes) : nodes, failureRate, seed);
}

describe('a simulated pause', () => {
  const spec = {
    rollout: {
      ...poolSpec().rollout,
      maxUnavailable: 3,
      canary: { nodes: 1, pause: true },
      steps: [{ nodes: 2, pause: true }],
    },
    trial: TRIAL,
  };
  const [before, after] = [validPool('workers', 100, spec), validPool('workers', 120, spec)];
  const approvedAfter = (approvesAfterMs: number): Simulation =>
    simulate({
      base: commit(COMMIT_A, before).repo,
      head: commit(COMMIT_B, after).repo,
      nodes: inventory(3),
      manners: { ...manners, approvesAfterMs },
      start: NOW,
      horizonMs: 48 * 60 * MINUTE,
    });

  it('takes as long as a person does', () => {
    const [atOnce, later] = [approvedAfter(0), approvedAfter(60 * MINUTE)];
    const took = later.end - later.start - (atOnce.end - atOnce.start);
    assert.ok(Math.abs(took - 120 * MINUTE) <= MINUTE, `${took / MINUTE} min`);
    assert.match(simulationAsText(later, plain), /canary +up to 1 node: from 0s to 10m10s, approved at 1h10m/);
    assert.equal(lanesOf(atOnce)[0]?.phase, 'Settled');
  });

  it('is the end where nobody ever approves, and says so', () => {
    const stopped = approvedAfter(Infinity);
    const [lane] = lanesOf(stopped);
    assert.deepEqual([lane?.phase, lane?.proved], ['Waiting', 1]);
    const text = simulationAsText(stopped, plain);
    assert.match(text, /canary +up to 1 node: from 0s to 10m10s, then it waits for a person/);
    assert.match(text, /approve it with kubelet-gitops approve workers/);
  });
});

/** From one pool to another on three nodes. */
const between = (before: ValidPool, after: ValidPool, failureRate = 0) =>
  change(before, after, inventory(3), failureRate);

describe('kubelets that would refuse the config', () => {
  const [before, after] = [{}, { serializeImagePulls: false, maxParallelImagePulls: 3 }].map((fields) =>
    validPool('workers', 110, { trial: TRIAL }, fields),
  );
  const played = (old: number) => {
    const nodes = inventory(5).map((node, index) => (index < old ? { ...node, kubeletVersion: 'v1.21.0' } : node));
    assert.ok(before !== undefined && after !== undefined);
    return change(before, after, nodes);
  };
  const proved = ({ events }: Simulation) => events.flatMap(({ event, node }) => (event === 'proved' ? [node] : []));

  it('hold their nodes, and the others go on', () => {
    const simulation = played(2);
    assert.deepEqual(proved(simulation), ['node-2', 'node-3', 'node-4']);
    const { holds, settled } = simulation.pools.get('workers') ?? {};
    assert.deepEqual(columns(holds, 'reason', 'examples'), [['not-valid', ['node-0', 'node-1']]]);
    assert.equal(settled?.sha256, after?.sha256);
    assert.deepEqual(simulation.invalidPools, []);
  });

  it('keep it from the pool where they are more than half', () => {
    const simulation = played(3);
    assert.deepEqual([proved(simulation), simulation.invalidPools], [[], ['workers']]);
  });
});

describe('a simulated rollout', () => {
  it('takes as many rounds of trial and restart as the budget makes of it', () => {
    const { start, end, pools } = play({ maxUnavailable: 5 }, 20);
    assert.equal(pools.get('workers')?.phase, 'Settled');
    assert.ok(
      end - start >= 4 * (10 * MINUTE + 10_000) && end - start < 4 * (10 * MINUTE + 40_000),
      String(end - start),
    );
  });

  it('goes through the waves of the pool, each after the one before has soaked', () => {
    const simulation = play({ maxUnavailable: 10, canary: { nodes: 1, soak: '1h' }, steps: [{ nodes: '50%' }] }, 10);
    const [lane] = lanesOf(simulation);
    assert.deepEqual(columns(lane?.waves, 'name', 'nodes'), [
      ['canary', 1],
      ['step 1', 5],
      ['rest', 10],
    ]);
    const [canary, step] = lane?.waves ?? [];
    assert.ok((canary?.doneAt ?? 0) >= 70 * MINUTE);
    assert.ok((step?.startedAt ?? 0) >= (canary?.doneAt ?? Infinity));
    assert.equal(lane?.proved, 10);
  });

  it('counts every soak for what it is, though nothing else happens meanwhile', () => {
    const steps = [{ nodes: 2 }, { nodes: 3 }, { nodes: 4 }];
    const { start, end } = play({ maxUnavailable: 1, soak: '30s', canary: { nodes: 1 }, steps }, 5);
    const most = 5 * (10 * MINUTE + 10_000 + 30_000);
    assert.ok(end - start >= most - 30_000 && end - start <= most + 5 * 15_000, String(end - start));
  });

  it('begins with the node of median age, then the oldest, as the reconciler does, whatever the order of the inventory', () => {
    const aged = inventory(4).map((node, index) => ({ ...node, createdAt: NOW - (index + 1) * 86_400_000 }));
    const { events } = play({ maxUnavailable: 1 }, aged);
    assert.deepEqual(
      column(
        events.filter(({ event }) => event === 'started'),
        'node',
      ),
      ['node-1', 'node-3', 'node-2', 'node-0'],
    );
  });

  it('ends at once where a cordoned node uses up the budget, because time alone does not fix that', () => {
    const cordoned = inventory(4).map((node, index) => (index === 3 ? { ...node, cordoned: true as const } : node));
    const simulation = play({ maxUnavailable: 1 }, cordoned);
    assert.deepEqual([simulation.events, simulation.end - simulation.start <= MINUTE], [[], true]);
    assert.match(simulationAsText(simulation, plain), /0 of 4 nodes proved it[^]*maxUnavailable allows 1/);
  });

  it('stops at the threshold of failures, as the reconciler would', () => {
    const simulation = play({ maxUnavailable: 3, onFailure: { threshold: 2, action: 'halt' } }, 30, 1);
    const [lane] = lanesOf(simulation);
    assert.equal(lane?.phase, 'Halted');
    assert.ok((lane?.failed ?? 0) >= 2 && (lane?.failed ?? 0) <= 3);
    assert.equal(lane?.proved, 0);
  });

  it('is the same for the same seed, and another for another', () => {
    const failures = (seed: number): string => JSON.stringify(lanesOf(play({ maxUnavailable: 5 }, 60, 0.05, seed)));
    assert.equal(failures(7), failures(7));
    assert.notEqual(failures(7), failures(8));
  });

  it('waits for the window that opens after the merge', () => {
    const allow = [{ cron: '0 14 * * *', duration: '4h' }];
    const { events, start } = play({ maxUnavailable: 5, windows: { allow, deny: [], overrun: 'stop' } }, 5);
    assert.ok(events.every(({ at }) => at - start >= 120 * MINUTE));
    assert.equal(events.filter(({ event }) => event === 'proved').length, 5);
  });

  it('restarts no kubelet of a pool that was only renamed: nodes know configs by their content', () => {
    const renamed = validPool('renamed', 100, { nodeSelector: { matchLabels: { pool: 'workers' } }, trial: TRIAL });
    const { events, pools } = between(validPool('workers', 100, { trial: TRIAL }), renamed);
    assert.deepEqual([events, pools.get('renamed')?.phase], [[], 'Settled']);
  });

  it('tries the same fields again where they are applied in another way', () => {
    const [laidOver, alone] = (['overlay', 'replace'] as const).map((apply) =>
      validPool('workers', 100, { apply, trial: TRIAL }),
    );
    assert.ok(laidOver !== undefined && alone !== undefined);
    const { events, pools } = between(laidOver, alone);
    assert.equal(pools.get('workers')?.phase, 'Settled');
    assert.equal(events.filter(({ event }) => event === 'proved').length, 3);
  });

  it('begins with nodes that proved what was in force, however many trials fail from then on', () => {
    const first = validPool('workers', 100, { trial: TRIAL });
    const { events, pools } = between(first, validPool('workers', 100, { trial: { ...TRIAL, duration: '1m' } }), 1);
    assert.deepEqual([events, pools.get('workers')?.phase], [[], 'Settled']);
  });

  it('of nothing that changes has nothing to show', () => {
    const repo = commit(COMMIT_A, validPool('workers', 100)).repo;
    const manners = { failureRate: 0, restartMs: 1, random: seededRandom(1) };
    const same = simulate({ base: repo, head: repo, nodes: inventory(3), manners, start: NOW, horizonMs: MINUTE });
    assert.deepEqual([same.events, same.end - same.start], [[], 0]);
    assert.equal(simulationAsText(same, plain), 'nothing changes on 3 nodes\n');
  });

  it('names the pools that are left out of it because they have errors', () => {
    const spec = poolSpec();
    const invalid = { status: 'invalid', name: 'broken', findings: [] } as const;
    const simulation = simulate({
      base: commit(COMMIT_A, validPool('workers', 100, spec)).repo,
      head: commit(COMMIT_B, validPool('workers', 100, spec), invalid).repo,
      nodes: inventory(1),
      manners,
      start: NOW,
      horizonMs: MINUTE,
    });
    assert.equal(
      simulationAsText(simulation, plain),
      'nothing changes on 1 node\n\nbroken has errors: it keeps its current config\n',
    );
  });

  it('can be read in a terminal of 80 columns, and as a picture without a word of it taken for markup', () => {
    const simulation = play({ maxUnavailable: 5 }, 20, 0.2, 3);
    const text = simulationAsText(simulation, plain);
    assert.ok(
      text
        .split('\n')
        .slice(0, 5)
        .every((line) => line.length <= 80),
      text,
    );
    assert.match(text, /^20 nodes: it ends after [^(]+ \(a column is /);
    const hostile = { ...simulation, pools: new Map([['<script>', { phase: 'Waiting' as const, message: '&' }]]) };
    const svg = simulationAsSvg(hostile);
    assert.ok(!svg.includes('<script>') && svg.includes('&#60;script&#62;'));
    assert.match(simulationAsSvg(simulation), /^<svg [^]*<polygon class="area"[^]*<\/svg>\n$/);
  });

  it('has a lane for a pool that goes, within the budget that it had, and for one that no node is in any more', () => {
    const spec = { rollout: { ...poolSpec().rollout, maxUnavailable: 2 } };
    const [old, other] = [validPool('workers', 100, spec), validPool('other', 100)];
    const slip = { ...old, spec: { ...old.spec, nodeSelector: { matchLabels: { pool: 'wrokers' } } } };
    for (const [head, why] of [
      [[other], /^ {2}it is gone, and no node has its config$/m],
      [[slip, other], /^ {2}no node matches the selector$/m],
    ] as const) {
      const simulation = simulate({
        base: commit(COMMIT_A, old, other).repo,
        head: commit(COMMIT_B, ...head).repo,
        nodes: inventory(5),
        manners,
        start: NOW,
        horizonMs: 60 * MINUTE,
      });
      const text = simulationAsText(simulation, plain);
      assert.match(text, /^workers {2}Empty: 5 went back to what they ran before$/m);
      assert.match(text, why);
      const [lane] = lanesOf(simulation);
      assert.deepEqual([lane?.nodes, lane?.proved, lane?.returned, simulation.end - NOW], [5, 0, 5, 60_000]);
      const begun = simulation.events.filter(({ event, at }) => event === 'started' && at === NOW);
      assert.equal(begun.length, 2);
    }
  });

  it('says that the reconciler would refuse the commit as a whole, as the plan does', async (t) => {
    const repository = await createRepository();
    t.after(() => repository.remove());
    const cluster = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {maxChange: 50%}\n';
    const nodes = ['n-1', 'n-2'].map((name) => ({
      kind: 'Node',
      metadata: { name, labels: { pool: 'a' } },
      status: {},
    }));
    await repository.commit('start', {
      'clusters/c.yaml': cluster,
      'pools/a/pool.yaml': pool('a', 'a'),
      'pools/a/kubelet.yaml': layer('maxPods: 110'),
    });
    await repository.commit('more', { 'pools/a/kubelet.yaml': layer('maxPods: 120') });
    const inventory = join(repository.directory, 'nodes.json');
    await writeFile(inventory, JSON.stringify({ items: nodes }));
    const argv = ['simulate', '--repo', repository.directory, '--inventory', inventory] as const;
    const said =
      /Refused as a whole: it would give 2 of 2 nodes in pools another config .* What follows is what would come of it then/;
    assert.match((await run(...argv)).out, said);
    assert.match((await run(...argv, '--at', '+275760-09-13T00:00:00Z')).err, /--at \+275760.*: write it as 2026-/);
    assert.match((await run(...argv, '-o', 'svg')).err, said);
    const { refusal } = JSON.parse((await run(...argv, '-o', 'json')).out) as { readonly refusal?: string };
    assert.match(refusal ?? '', /maxChange allows 1/);
    await repository.commit('allow', { 'clusters/c.yaml': cluster.replace('50%', '100%') });
    assert.match((await run(...argv, '--base', 'HEAD~2')).out, /Refused/, 'a commit cannot raise its own limit');
    await repository.commit('next', { 'pools/a/kubelet.yaml': layer('maxPods: 130') });
    assert.doesNotMatch((await run(...argv)).out, /Refused/);
  });
});
