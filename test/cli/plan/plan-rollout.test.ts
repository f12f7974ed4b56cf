import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { plannedRollout, planRollout as planOf } from '#cli/plan/plan-rollout.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate } from '#cli/simulate/simulate.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { sizedPool } from '../../support/rollout/sized-pool.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, poolSpec, validPool } from '../../support/fleet.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const planRollout = (...about: Parameters<typeof plannedRollout>) => planOf(plannedRollout(...about));

const node = (name: string, zone = '', createdAt?: number, labels = {}, ready = true): InventoryNode =>
  inventoryNode(name, {
    labels: { 'topology.kubernetes.io/zone': zone, ...labels },
    ready,
    ...(createdAt === undefined ? {} : { createdAt }),
  });

const MINUTE = 60_000;

function plan(nodes: readonly InventoryNode[], rollout: Partial<RolloutSpec>, touched = nodes) {
  const pool = validPool('w', 100);
  const spec = { ...pool.spec, trial: { ...pool.spec.trial, duration: '5m' } };
  const whole: RolloutSpec = {
    maxUnavailable: 1,
    probation: 'full',
    soak: '0s',
    onFailure: { threshold: 1, action: 'halt' },
    ...rollout,
  };
  return planRollout({ ...pool, spec: { ...spec, rollout: whole } }, nodes, touched, null);
}

describe('the order of a rollout in a plan', () => {
  it('is by zone, then by age, then by name, after the node nearest to the median age of the first zone', () => {
    const nodes = [node('a', 'z2', 1), node('b', 'z1', 9), node('c', 'z1', 3), node('d', 'z1', 3), node('e', 'z1')];
    assert.deepEqual(plan(nodes, {}).waves, [['c'], ['e'], ['d'], ['b'], ['a']]);
  });

  it('has those last that are not Ready, so that canaries are nodes that can prove something', () => {
    const nodes = [node('a', 'z1', 1, {}, false), node('b', 'z1', 2), node('c', 'z2', 3)];
    const { stages } = plan(nodes, { maxUnavailable: 2, canary: { nodes: 1 }, notReadyNodes: 'change' });
    assert.deepEqual(stages, [
      { name: 'canary', nodes: ['b'] },
      { name: 'rest', nodes: ['c', 'a'] },
    ]);
  });

  it('has no waves where the pool has proven the config', () => {
    const nodes = [node('a'), node('b'), node('c')];
    const spec = {
      ...poolSpec(),
      rollout: { ...poolSpec().rollout, maxUnavailable: 3, canary: { nodes: 1, soak: '1h' } },
    };
    const stagesOf = (isProven: boolean) =>
      planOf(plannedRollout({ ...validPool('w', 100), spec }, nodes, nodes, null, { isProven })).stages.map(
        ({ name }) => name,
      );
    assert.deepEqual([stagesOf(true), stagesOf(false)], [['rest'], ['canary', 'rest']]);
  });

  it('takes canaries of each class where the pool asks for them; those that run their config already count', () => {
    const pool = sizedPool(
      "computed: {systemReserved: {memory: 'memory * 0.1'}}\n",
      '{maxUnavailable: 9, canary: {nodes: 1, perClass: true}}',
    );
    const sized = (name: string, memory: string): InventoryNode => ({ ...node(name), capacity: { memory } });
    const nodes = [sized('a', '8Gi'), sized('b', '8Gi'), sized('c', '64Gi'), sized('d', '64Gi'), sized('e', '16Gi')];
    const stagesOf = (touched: readonly InventoryNode[]) =>
      planRollout(pool, nodes, touched, null).stages.map(({ name, nodes: each }) => `${name} ${each.join()}`);
    assert.deepEqual(stagesOf(nodes), ['canary a,c,e', 'rest b,d']);
    assert.deepEqual(stagesOf(nodes.slice(1)), ['canary c,e', 'rest b,d']);
  });

  it('takes as many at a time as the budget of the pool and of each zone allow', () => {
    const nodes = [node('a', 'x'), node('b', 'x'), node('c', 'x'), node('d', 'y')];
    assert.deepEqual(plan(nodes, { maxUnavailable: 2 }).waves, [
      ['a', 'b'],
      ['c', 'd'],
    ]);
    assert.deepEqual(plan(nodes, { maxUnavailable: 2, maxUnavailablePerZone: 1 }).waves, [['a', 'd'], ['b'], ['c']]);
    assert.deepEqual(plan(nodes, { maxUnavailable: 0 }).waves, []);
  });

  it('takes nodes of the control plane one at a time', () => {
    const label = { 'node-role.kubernetes.io/control-plane': '' };
    const nodes = ['a', 'b'].map((name) => node(name, '', undefined, label));
    assert.deepEqual(plan(nodes, { maxUnavailable: 2 }).waves, [['a'], ['b']]);
  });

  it('begins with the canaries, goes on in steps, and lets each soak', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name));
    const { stages, waves, expectedMs } = plan(nodes, {
      maxUnavailable: 2,
      canary: { nodes: 1, soak: '30m' },
      steps: [{ nodes: '50%', soak: '10m' }],
    });
    assert.deepEqual(stages, [
      { name: 'canary', nodes: ['a'] },
      { name: 'step 1', nodes: ['b'] },
      { name: 'rest', nodes: ['c', 'd'] },
    ]);
    assert.deepEqual(waves, [['a'], ['b'], ['c', 'd']]);
    assert.equal(expectedMs, 3 * (5 * MINUTE + 10_000) + 40 * MINUTE);
  });

  it('names the waves after which a person is asked, and lets nobody be asked whom nobody follows', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name));
    const asked = (rollout: Parameters<typeof plan>[1], touched = nodes): readonly string[] =>
      plan(nodes, rollout, touched).stages.flatMap(({ name, approval }) => (approval === true ? [name] : []));
    const canary = { nodes: 1, pause: true };
    assert.deepEqual(asked({ canary, steps: [{ nodes: '50%' }] }), ['canary']);
    // The step adds nobody to the canary, and waits all the same.
    assert.deepEqual(asked({ canary: { nodes: 1 }, steps: [{ nodes: 1, pause: true }] }), ['step 1']);
    assert.deepEqual(
      asked({
        canary,
        steps: [
          { nodes: 3, pause: true },
          { nodes: 4, pause: true },
        ],
      }),
      ['canary', 'step 1'],
    );
    assert.deepEqual(asked({ canary: { nodes: 4, pause: true } }), []);
  });

  it('counts nodes that run the config already as a part of a step', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name));
    const { stages } = plan(nodes, { steps: [{ nodes: '50%' }] }, nodes.slice(1));
    assert.deepEqual(
      stages.map(({ name, nodes: names }) => `${name}: ${names.join(' ')}`),
      ['step 1: b', 'rest: c d'],
    );
  });

  it('knows canaries by their labels', () => {
    const nodes = [node('a'), node('b', '', undefined, { canary: 'yes' })];
    const { stages } = plan(nodes, { canary: { selector: { matchLabels: { canary: 'yes' } } } });
    assert.deepEqual(
      stages.map(({ name, nodes: names }) => `${name}: ${names.join(' ')}`),
      ['canary: b', 'rest: a'],
    );
  });
});

const { probation: _, ...AT_PACE } = poolSpec().rollout;
const zoned = (count: number): readonly InventoryNode[] =>
  Array.from({ length: count }, (__, index) => node(`n${index}`, `z${index % 3}`, index));

/** What the planner itself makes of it in simulated time. */
function simulated(nodes: readonly InventoryNode[], rollout: Partial<RolloutSpec>) {
  const spec = { rollout: { ...AT_PACE, ...rollout }, nodeSelector: {} };
  const [before, after] = [validPool('w', 100, spec), validPool('w', 110, spec)];
  const { start, end, events } = simulate({
    base: commit(COMMIT_A, before).repo,
    head: commit(COMMIT_B, after).repo,
    nodes,
    manners: { failureRate: 0, restartMs: 10_000, random: seededRandom(1) },
    start: NOW,
    horizonMs: 1_000 * MINUTE,
  });
  const order = events.filter(({ event }) => event === 'started').map((event) => event.node);
  return { plan: planRollout(after, nodes, nodes, null), tookMs: end - start, order };
}

describe('the time of a rollout in which places are given back', () => {
  const ROWS: readonly (readonly [string, number, Partial<RolloutSpec>])[] = [
    ['one at a time', 20, {}],
    ['many at a time', 60, { maxUnavailable: '10%' }],
    ['that few may try', 30, { maxUnavailable: 5, maxOnTrial: 2 }],
    ['that soaks', 12, { maxUnavailable: 2, soak: '4m' }],
    ['within zones', 18, { maxUnavailable: 4, maxUnavailablePerZone: 1 }],
    ['in waves', 20, { maxUnavailable: 3, canary: { nodes: 2, soak: '5m' }, steps: [{ nodes: '50%', soak: '3m' }] }],
    [
      'in a wave that asks for no more nodes than the one before',
      6,
      { canary: { nodes: 2 }, steps: [{ nodes: 2, soak: '30m' }] },
    ],
    [
      'in waves within zones',
      40,
      {
        maxUnavailable: 5,
        maxUnavailablePerZone: 1,
        canary: { nodes: 3, soak: '30m' },
        steps: [{ nodes: '50%', soak: '3m' }],
      },
    ],
    ['with its own probation', 20, { maxUnavailable: 2, probation: '2m' }],
  ];
  for (const [name, count, rollout] of ROWS) {
    it(`is what it is in a simulation: ${name}`, () => {
      const { plan: planned, tookMs, order } = simulated(zoned(count), rollout);
      assert.deepEqual(planned.waves.flat().toSorted(), order.toSorted());
      const off = Math.abs(planned.expectedMs - tookMs);
      assert.ok(off <= MINUTE + 0.03 * tookMs, `${planned.expectedMs / MINUTE} and ${tookMs / MINUTE} minutes`);
    });
  }

  it('is what it is in a simulation where nodes of the control plane are among others', () => {
    const nodes = zoned(20).map((each, index) =>
      index < 6 ? { ...each, labels: { ...each.labels, 'node-role.kubernetes.io/control-plane': '' } } : each,
    );
    const { plan: planned, tookMs, order } = simulated(nodes, { maxUnavailable: 3, canary: { nodes: 2, soak: '1m' } });
    assert.ok(Math.abs(planned.expectedMs - tookMs) <= MINUTE, `${planned.expectedMs} and ${tookMs}`);
    assert.deepEqual(planned.stages[0]?.nodes, order.slice(0, 2), 'the canaries are those that begin first');
    assert.equal(planned.worth[0]?.seen, 2);
  });

  it('is less than two hours for a hundred nodes one at a time', () => {
    const pool = validPool('w', 100, { rollout: AT_PACE });
    const nodes = zoned(100);
    const { expectedMs, waves } = planRollout(pool, nodes, nodes, null);
    assert.deepEqual([waves.length, expectedMs <= 120 * MINUTE], [100, true], String(expectedMs / MINUTE));
  });

  it('has the spread of quick and of slow restarts', () => {
    const nodes = zoned(3);
    const { expectedMs, quickMs, slowMs } = plan(nodes, {});
    // Three trials of five minutes, one after another, and restarts of 5, 10 and 30 seconds.
    assert.deepEqual([quickMs, expectedMs, slowMs], [915_000, 930_000, 990_000]);
  });

  /** How many nodes each of three faults reaches, and whether the rollout stops by then. */
  const FAULTS: readonly (readonly [name: string, rollout: Partial<RolloutSpec>, reaches: string])[] = [
    ['one at a time', {}, '1 stopped, 1 stopped, 85 stopped'],
    ['with two canaries', { maxUnavailable: 4, canary: { nodes: 2 } }, '2 stopped, 2 stopped, 86 stopped'],
    [
      'that forgives one failure',
      { maxUnavailable: 2, onFailure: { threshold: 2, action: 'halt' } },
      '2 stopped, 2 stopped, 90 gone on',
    ],
    [
      'that forgives one failure, and tries another node in place of the only canary',
      { maxUnavailable: 2, canary: { nodes: 1 }, onFailure: { threshold: 2, action: 'halt' } },
      '2 stopped, 2 stopped, 90 gone on',
    ],
    [
      'all at once, on trial for five minutes',
      { maxUnavailable: '100%', probation: 'full' },
      '90 stopped, 90 gone on, 90 stopped',
    ],
  ];
  for (const [name, rollout, reaches] of FAULTS) {
    it(`comes with how many nodes a bad config reaches: ${name}`, () => {
      const spec = { rollout: { ...AT_PACE, ...rollout } };
      const pool = validPool('w', 100, spec);
      const trial = { ...pool.spec.trial, duration: rollout.probation === 'full' ? '5m' : '10m' };
      const nodes = zoned(90);
      const { worth } = planRollout({ ...pool, spec: { ...pool.spec, trial } }, nodes, nodes, null);
      const said = worth.map(({ seen, isStopped }) => `${seen} ${isStopped ? 'stopped' : 'gone on'}`);
      assert.equal(said.join(', '), reaches);
    });
  }

  it('comes with how many nodes one that fails by chance reaches in 19 of 20 cases', () => {
    const nodes = zoned(400);
    const { worth } = planRollout(validPool('w', 100, { rollout: AT_PACE }), nodes, nodes, null);
    const { seen = 0, byChance } = worth.at(-1) ?? {};
    // One after another: 29 of 30 are well, so 88 in a row are well in one of 20 cases. The cases that are tried are few.
    const expected = Math.log(1 / 20) / Math.log(29 / 30);
    assert.ok(byChance === true && Math.abs(seen - expected) <= 15, `${seen}`);
  });

  it('says nothing of bad configs where nobody tries it', () => {
    const pool = validPool('w', 100, { rollout: AT_PACE });
    const all = new Set(zoned(3).map(({ name }) => name));
    assert.deepEqual(planRollout(pool, zoned(3), zoned(3), null, { takenOver: all }).worth, []);
    const one = zoned(1);
    assert.equal(planRollout(pool, one, one, null).worth.length, 3);
  });

  it('knows that canaries of each class have to prove it before others may', () => {
    const timeWith = (perClass: boolean) => {
      const canary = `canary: {nodes: 1, perClass: ${perClass}}`;
      const rollout = `{maxUnavailable: 9, ${canary}}`;
      const pool = sizedPool("computed: {systemReserved: {memory: 'memory * 0.1'}}\n", rollout);
      const nodes = ['8Gi', '16Gi', '32Gi', '64Gi', '64Gi', '64Gi', '64Gi', '64Gi', '64Gi', '64Gi'].map(
        (memory, index): InventoryNode => ({ ...node(`n${index}`), capacity: { memory } }),
      );
      return planRollout(pool, nodes, nodes, null).waves.map(({ length }) => length);
    };
    // One canary of each of four classes begins together, and the bound of four doubles to what the pool allows.
    assert.deepEqual(timeWith(true), [4, 6]);
    assert.deepEqual(timeWith(false), [1, 2, 2, 2, 3]);
  });

  it('is that of nothing where none may change', () => {
    const pool = validPool('w', 100, { rollout: { ...AT_PACE, maxUnavailable: 0 } });
    assert.deepEqual(planRollout(pool, zoned(3), zoned(3), null).waves, []);
  });
});
