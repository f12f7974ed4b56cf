import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { makePlan } from '#cli/plan/make-plan.ts';
import { planAsText } from '#cli/plan/render/text.ts';
import { plain } from '#cli/paint.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate } from '#cli/simulate/simulate.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, poolSpec, validPool } from '../../support/fleet.ts';
import { fc } from '../../support/property.ts';
import { column } from '../../support/columns.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOUR = 3_600_000;
const { probation: _, ...AT_PACE } = poolSpec().rollout;

const node = (name: string, state: Partial<InventoryNode> = {}): InventoryNode =>
  inventoryNode(name, { ...state, labels: { pool: 'workers', ...state.labels } });

/** What the plan says, and what the planner itself makes of the same in simulated time. */
function both(nodes: readonly InventoryNode[], rollout: Partial<RolloutSpec>, maxUnavailable: number | null = null) {
  const spec = { rollout: { ...AT_PACE, ...rollout } };
  const [base, head] = [
    commit(COMMIT_A, validPool('workers', 100, spec)),
    commit(COMMIT_B, validPool('workers', 110, spec)),
  ];
  const [before, after] = [base, head].map(({ repo }) => ({ ...repo, cluster: { ...repo.cluster, maxUnavailable } }));
  assert.ok(before !== undefined && after !== undefined);
  const plan = makePlan({
    base: { name: 'base', commit: undefined, repo: before, kept: new Map() },
    head: { name: 'head', repo: after },
    cluster: 'demo',
    nodes,
    inForce: undefined,
  });
  const {
    events,
    pools,
    nodes: counted,
  } = simulate({
    base: before,
    head: after,
    nodes,
    manners: { failureRate: 0, restartMs: 10_000, random: seededRandom(1) },
    start: NOW,
    horizonMs: 100 * HOUR,
  });
  const rolled = plan.pools[0]?.rollout;
  return {
    plan,
    rollout: rolled,
    planned: rolled?.waves.flat() ?? [],
    simulated: events.filter(({ event }) => event === 'started').map((event) => event.node),
    status: pools.get('workers'),
    counted,
  };
}

describe('nodes that cannot take part now', () => {
  it('are not what others wait for where they hold no place', () => {
    const nodes = [node('w1', { cordoned: true }), node('w2', { leaving: 'X removes it' }), node('w3')];
    const { rollout } = both(nodes, {});
    assert.deepEqual(column(rollout?.waitsFor, 'nodes'), [['w1']]);
    const alone = both([node('w2', { leaving: 'X removes it' })], {}).rollout;
    assert.deepEqual(column(alone?.waitsFor, 'nodes'), [['w2']]);
  });

  const STATES: readonly (readonly [string, Partial<InventoryNode>])[] = [
    ['cordoned', { cordoned: true }],
    ['not Ready', { ready: false }],
    ['without an agent that reports', { silent: true }],
  ];
  for (const [name, state] of STATES) {
    it(`fill maxUnavailable, ${name}: plan promises no time, names them, and simulate says the same`, () => {
      const { plan, rollout, planned, simulated, status } = both([node('w1', state), node('w2'), node('w3')], {});
      assert.deepEqual([planned, simulated, status?.phase], [[], [], 'Waiting']);
      assert.deepEqual(column(rollout?.waitsFor, 'nodes'), [['w1']]);
      const { restarts, waiting, expectedMs } = plan.summary;
      assert.deepEqual([restarts, waiting, expectedMs], [0, 3, 0]);
      const text = planAsText(plan, plain);
      assert.match(text, /3 nodes would change, but wait for w1: /);
      assert.doesNotMatch(text, /if all goes well/);
    });

    it(`leave the others their places, ${name}: the others have a time, which does not include them`, () => {
      const nodes = [node('w1', state), node('w2'), node('w3')];
      const { plan, rollout, planned, simulated } = both(nodes, { maxUnavailable: 2, canary: { nodes: 1 } });
      assert.deepEqual(
        [planned, simulated],
        [
          ['w2', 'w3'],
          ['w2', 'w3'],
        ],
      );
      assert.deepEqual(rollout?.stages[0], { name: 'canary', nodes: ['w2'] });
      assert.deepEqual([plan.summary.restarts, plan.summary.waiting, rollout?.budget], [2, 1, 1]);
      assert.deepEqual([rollout?.absent?.map((each) => each.nodes), rollout?.waitsFor], [[['w1']], undefined]);
    });
  }

  it('keep other nodes of the control plane from beginning, where they are not Ready and of it', () => {
    const server = { 'node-role.kubernetes.io/control-plane': '' };
    const nodes = [node('w1', { ready: false, labels: server }), node('w2', { labels: server }), node('w3')];
    const { planned, simulated, rollout } = both(nodes, { maxUnavailable: 3 });
    assert.deepEqual([planned, simulated], [['w3'], ['w3']]);
    assert.ok((rollout?.expectedMs ?? 0) > 0);
  });

  it('hide no refusal: the others would refuse the config as soon as they are back', () => {
    const full: InventoryNode = { ...node('w2'), pods: 200, capacity: { pods: '250' }, allocatable: { pods: '250' } };
    const { plan } = both([node('w1', { cordoned: true }), full], {});
    assert.deepEqual([plan.summary.refused, plan.summary.waiting, plan.summary.restarts], [1, 1, 0]);
  });

  it('hold no place where they are only leaving, and are no canaries', () => {
    const nodes = [node('w1', { leaving: 'it goes' }), node('w2'), node('w3', { deletionCandidate: true }), node('w4')];
    const { planned, simulated, rollout } = both(nodes, { canary: { nodes: 1 } });
    assert.deepEqual(
      [planned, simulated],
      [
        ['w2', 'w4', 'w3'],
        ['w2', 'w4', 'w3'],
      ],
    );
    assert.equal(rollout?.stages[0]?.nodes.join(), 'w2');
  });

  it('count in the median age, by which the canary is chosen', () => {
    const aged = (name: string, days: number, state: Partial<InventoryNode> = {}): InventoryNode =>
      node(name, { createdAt: NOW - days * 24 * HOUR, ...state });
    for (const state of [{ silent: true }, { cordoned: true }, { leaving: 'it goes' }] as const) {
      const nodes = [aged('w1', 9, state), aged('w2', 8, state), aged('w3', 7), aged('w4', 6), aged('w5', 5)];
      const { planned, simulated } = both(nodes, { maxUnavailable: 3 });
      assert.deepEqual([planned[0], simulated[0]], ['w3', 'w3'], JSON.stringify(state));
    }
  });

  it('have canaries of other zones, or of no control plane, begin before them as the planner chooses those', () => {
    const aged = (name: string, zone: string, days: number, labels = {}): InventoryNode =>
      node(name, { createdAt: NOW - days * 24 * HOUR, labels: { [ZONE]: zone, ...labels } });
    const server = { 'node-role.kubernetes.io/control-plane': '' };
    for (const labels of [{}, server]) {
      const first = [3, 2, 1].map((days) => aged(`a${days}`, 'a', days, labels));
      const nodes = [...first, ...[9, 8, 7, 6, 5].map((days) => aged(`b${days}`, 'b', days))];
      const { planned, simulated, rollout } = both(nodes, {
        maxUnavailable: 4,
        ...(labels === server ? {} : { maxUnavailablePerZone: 1 }),
        canary: { nodes: 2, soak: '1m' },
      });
      assert.deepEqual(
        [planned.slice(0, 2), simulated.slice(0, 2)],
        [
          ['a2', 'b7'],
          ['a2', 'b7'],
        ],
      );
      assert.deepEqual(rollout?.stages[0]?.nodes, ['a2', 'b7']);
    }
  });

  it('keep the others from beginning where they are the canaries', () => {
    const nodes = [node('w1', { cordoned: true, labels: { canary: 'yes' } }), node('w2'), node('w3')];
    const canary = { selector: { matchLabels: { canary: 'yes' } } };
    const { planned, simulated, rollout, plan } = both(nodes, { maxUnavailable: 2, canary });
    assert.deepEqual([planned, simulated], [[], []]);
    assert.deepEqual(rollout?.waitsFor?.[0]?.nodes, ['w1']);
    assert.equal(plan.summary.waiting, 3);
  });

  it('fill the bound over all pools, wherever they are', () => {
    const nodes = [node('w1', { cordoned: true }), node('w2'), node('w3')];
    const { planned, simulated, rollout } = both(nodes, { maxUnavailable: 2 }, 1);
    assert.deepEqual([planned, simulated], [[], []]);
    assert.deepEqual(rollout?.waitsFor?.[0]?.nodes, ['w1']);
  });

  it('fill their zone: those of other zones have a time', () => {
    const nodes = [
      node('w1', { cordoned: true, labels: { [ZONE]: 'a' } }),
      node('w2', { labels: { [ZONE]: 'a' } }),
      node('w3', { labels: { [ZONE]: 'b' } }),
    ];
    const { planned, simulated, rollout } = both(nodes, { maxUnavailable: 2, maxUnavailablePerZone: 1 });
    assert.deepEqual([planned, simulated], [['w3'], ['w3']]);
    assert.ok((rollout?.expectedMs ?? 0) > 0);
  });

  it('are left out, and counted nowhere, where no agent can run on them', () => {
    const fargate = node('f1', { ready: false, labels: { 'eks.amazonaws.com/compute-type': 'fargate' } });
    const nodes = [fargate, node('f2', { virtual: true }), node('w1')];
    const { plan, planned, simulated, status, counted } = both(nodes, {});
    assert.equal(counted, 1);
    assert.deepEqual([planned, simulated, status?.phase, status?.counts?.nodes], [['w1'], ['w1'], 'Settled', 1]);
    assert.deepEqual([plan.pools[0]?.members, plan.summary.nodes], [1, 1]);
    assert.deepEqual(column(plan.unsupported, 'nodes'), [['f1'], ['f2']]);
  });
});

describe('a plan', () => {
  const state = fc.constantFrom<Partial<InventoryNode>>(
    {},
    {},
    {},
    { ready: false },
    { cordoned: true },
    { silent: true },
    { leaving: 'it goes' },
    { deletionCandidate: true },
    { virtual: true },
    { leaving: 'it goes', cordoned: true },
  );
  const label = fc.constantFrom({}, { canary: 'yes' }, { 'node-role.kubernetes.io/control-plane': '' });
  const zone = fc.constantFrom({}, { [ZONE]: 'a' }, { [ZONE]: 'b' });
  const fleets = fc
    .array(fc.tuple(state, label, zone, fc.nat(5)), { minLength: 1, maxLength: 7 })
    .map((all) =>
      all.map(([is, has, where, age], index) =>
        node(`n${index}`, { ...is, createdAt: NOW - 100 * HOUR - age * HOUR, labels: { ...has, ...where } }),
      ),
    );
  const rollouts = fc.record(
    {
      maxUnavailable: fc.integer({ min: 1, max: 3 }),
      maxUnavailablePerZone: fc.integer({ min: 1, max: 2 }),
      canary: fc.oneof(
        fc.record({ nodes: fc.integer({ min: 1, max: 3 }) }),
        fc.constant({ selector: { matchLabels: { canary: 'yes' } } }),
      ),
      steps: fc.constant([{ nodes: '50%' as const }]),
      notReadyNodes: fc.constant('change' as const),
    },
    { requiredKeys: ['maxUnavailable'] },
  );

  it('has those nodes begin that the planner has begin, and no others, whatever keeps some of them', () => {
    fc.assert(
      fc.property(fleets, rollouts, fc.option(fc.integer({ min: 1, max: 3 })), (nodes, rollout, overall) => {
        const { planned, simulated, plan } = both(nodes, rollout, overall);
        if (plan.pools[0]?.waits !== undefined) return;
        assert.deepEqual(planned.toSorted(), [...new Set(simulated)].toSorted());
        assert.equal(planned[0], simulated[0]);
      }),
      { numRuns: 60 },
    );
  });
});
