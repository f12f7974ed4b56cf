import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { makePlan } from '#cli/plan/make-plan.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate } from '#cli/simulate/simulate.ts';
import type { KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, poolSpec, validPool } from '../../support/fleet.ts';
import { fc } from '../../support/property.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const HOUR = 3_600_000;
const ZONE = 'topology.kubernetes.io/zone';
const SERVER = { 'node-role.kubernetes.io/control-plane': '' };
const { probation: _, ...AT_PACE } = poolSpec().rollout;

/** What a pull request does to the pool: its payload before and after, and how its spec becomes. */
interface Change {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly maxPods: number;
  readonly spec?: Partial<KubeletPoolSpec>;
  readonly rollout?: Partial<RolloutSpec>;
  readonly isGone?: true;
}

const NO_END = { allow: [], deny: [{ cron: '0 0 1 * *', duration: '800h' }], overrun: 'stop' } as const;
const DRAINS = { disruption: { allow: ['restart', 'drain'] as const, drainTimeout: '10m' } };

const ENDLESS: Change = { fields: {}, maxPods: 120, rollout: { windows: NO_END } };

const CHANGES: Readonly<Record<string, Change>> = {
  plain: { fields: {}, maxPods: 120 },
  'fewer pods than run': { fields: {}, maxPods: 40 },
  'the same, with a drain allowed': { fields: {}, maxPods: 40, spec: DRAINS },
  'too little memory for pods that a node needs': { fields: { kubeReserved: { memory: '7Gi' } }, maxPods: 110 },
  'no memory at all': { fields: { kubeReserved: { memory: '9Gi' } }, maxPods: 110 },
  'CPUs that few nodes have': { fields: { reservedSystemCPUs: '0-5' }, maxPods: 110 },
  'a field that old kubelets refuse': {
    fields: { serializeImagePulls: false, maxParallelImagePulls: 3 },
    maxPods: 110,
  },
  'a drain that the pool does not allow': {
    fields: { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' },
    maxPods: 110,
  },
  'a pool that is suspended': { fields: {}, maxPods: 120, spec: { suspend: true } },
  'a window without an end': ENDLESS,
  'canaries that no node is': {
    fields: {},
    maxPods: 120,
    rollout: { canary: { selector: { matchLabels: { no: 'body' } } } },
  },
  'a pool that goes': { fields: {}, maxPods: 110, isGone: true },
  'a selector with a slip': { fields: {}, maxPods: 110, spec: { nodeSelector: { matchLabels: { pool: 'wrokers' } } } },
};

function asked(base: LoadedRepo, head: LoadedRepo, nodes: readonly InventoryNode[]) {
  const plan = makePlan({
    base: { name: 'base', commit: undefined, repo: base, kept: new Map() },
    head: { name: 'head', repo: head },
    cluster: 'demo',
    nodes,
    inForce: undefined,
    now: NOW,
  });
  const manners = { failureRate: 0, restartMs: 10_000, random: seededRandom(1) };
  return { plan, simulation: simulate({ base, head, nodes, manners, start: NOW, horizonMs: 300 * HOUR }) };
}

/** What the two commands say of one pull request. */
function both(
  nodes: readonly InventoryNode[],
  rollout: Partial<RolloutSpec>,
  change: Change,
  maxUnavailable: number | null = null,
) {
  const was = { rollout: { ...AT_PACE, ...rollout } };
  const before = {
    kubeReserved: { memory: '1Gi' },
    systemReserved: { memory: '0' },
    evictionHard: { 'memory.available': '100Mi' },
  };
  const spec = { ...was, ...change.spec, rollout: { ...was.rollout, ...change.rollout } };
  const old = validPool('workers', 110, was, before);
  const now = validPool('workers', change.maxPods, spec, { ...before, ...change.fields });
  const other = validPool('other', 110);
  const bounded = (repo: LoadedRepo): LoadedRepo => ({ ...repo, cluster: { ...repo.cluster, maxUnavailable } });
  const base = bounded(commit(COMMIT_A, old, other).repo);
  const head = bounded(commit(COMMIT_B, ...(change.isGone ? [] : [now]), other).repo);
  const { plan, simulation } = asked(base, head, nodes);
  const named = (...kinds: readonly string[]): readonly string[] =>
    simulation.events.filter(({ event }) => kinds.includes(event)).map(({ node }) => node);
  const pool = plan.pools.find(({ name }) => name === 'workers');
  const rolled = pool?.waits === undefined ? pool?.rollout : undefined;
  const begun = rolled?.waves.flat() ?? [];
  const refuses = new Set(
    (pool?.nodes ?? []).flatMap(({ name, held, warnings }) =>
      held === undefined && warnings.some((warning) => warning.refuses) ? [name] : [],
    ),
  );
  const left = new Set(named('returned'));
  const told = simulation.events.filter(
    ({ event, node: each }) => (event === 'started' || event === 'refused') && !left.has(each),
  );
  return {
    plan,
    simulation,
    status: simulation.pools.get('workers'),
    waits: pool?.waits,
    planned: {
      begun: begun.toSorted(),
      generations: rolled?.waves ?? [],
      refused: begun.filter((name) => refuses.has(name)).toSorted(),
      leaving: plan.moves.flatMap(({ going }) => going).toSorted(),
      leavingAtOnce: plan.moves.reduce((sum, { budget }) => sum + budget, 0),
    },
    simulated: {
      begun: [...new Set(told.map(({ node: each }) => each))].toSorted(),
      generations: [...Map.groupBy(told, ({ at }) => at).values()].map((each) => each.map((event) => event.node)),
      refused: named('refused').toSorted(),
      leaving: [...left].toSorted(),
      leavingAtOnce: simulation.events.filter((each) => each.at === NOW && left.has(each.node)).length,
    },
    // Where some wait for ever, the last of the others says how long it took.
    isTimed: rolled?.stoppedBy === undefined && plan.summary.refused === 0 && rolled?.waitsFor === undefined,
    took: { ...plan.summary, ms: Math.max(0, ...simulation.events.map(({ at }) => at - NOW)) },
  };
}

const STATES: readonly Partial<InventoryNode>[] = [
  ...Array.from({ length: 12 }, () => ({})),
  { ready: false },
  { ready: false },
  { cordoned: true },
  { silent: true },
  { leaving: 'it goes' },
  { virtual: true },
];

const GI = 2 ** 30;
const sized = (memory: number, cpus: number): Pick<InventoryNode, 'capacity' | 'allocatable'> => ({
  capacity: { cpu: `${cpus}`, memory: `${memory}Gi`, pods: '110' },
  allocatable: { cpu: `${cpus}`, memory: `${memory * 1024 - 1124}Mi`, pods: '110' },
});

const node = fc
  .record({
    state: fc.constantFrom(...STATES),
    labels: fc.constantFrom({}, {}, { canary: 'yes' }, SERVER),
    zone: fc.constantFrom({}, { [ZONE]: 'a' }, { [ZONE]: 'b' }),
    age: fc.nat(4),
    size: fc.constantFrom(sized(8, 4), sized(16, 8)),
    version: fc.constantFrom('v1.34.2', 'v1.34.2', 'v1.21.0'),
    pods: fc.constantFrom(10, 47),
    vital: fc.constantFrom(0.1, 1.5),
  })
  .map(
    ({ state, labels, zone, age, size, version, pods, vital }) =>
      (name: string): InventoryNode =>
        inventoryNode(name, {
          ...state,
          ...size,
          kubeletVersion: version,
          createdAt: NOW - (100 + age) * HOUR,
          labels: { pool: 'workers', ...labels, ...zone },
          pods,
          vital: { count: 2, requests: { cpu: 0.1, memory: vital * GI, 'ephemeral-storage': 0 } },
          needs: new Map(),
        }),
  );
const fleets = fc.array(node, { minLength: 1, maxLength: 8 }).map((all) => all.map((make, index) => make(`n${index}`)));

const rollouts = fc.record(
  {
    maxUnavailable: fc.integer({ min: 1, max: 4 }),
    canary: fc.oneof(
      fc.record({ nodes: fc.integer({ min: 1, max: 2 }), pause: fc.constantFrom(true, false, false) }),
      fc.constant({ selector: { matchLabels: { canary: 'yes' } } }),
    ),
    steps: fc.constantFrom(false, false, true).map((pause) => [{ nodes: '50%' as const, pause }]),
    notReadyNodes: fc.constant('change' as const),
    onFailure: fc.record({ threshold: fc.integer({ min: 1, max: 3 }), action: fc.constant('halt' as const) }),
  },
  { requiredKeys: ['maxUnavailable', 'onFailure'] },
);

describe('plan and simulate', () => {
  it('say in the same words that windows never open, and the plan before anything waits for them', () => {
    const { waits, status } = both([inventoryNode('n0')], { maxUnavailable: 1 }, ENDLESS);
    assert.match(waits ?? '', /^the window "0 0 1 \* \*" \(800h\) denies changes without an end in sight$/);
    assert.ok(status?.message?.includes(waits ?? '-'));
    const only = { fields: {}, maxPods: 110, rollout: { windows: NO_END } };
    assert.equal(both([inventoryNode('n0')], { maxUnavailable: 1 }, only).waits, waits);
    const other = { windows: { ...NO_END, deny: [{ cron: '0 0 1 * *', duration: '8h' }] } };
    assert.equal(both([inventoryNode('n0')], { maxUnavailable: 1 }, { ...only, rollout: other }).waits, undefined);
  });

  it('call the way back to the local config a restart, whatever the pool had set', () => {
    const old = validPool('workers', 110, {}, { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' });
    const [base, head] = [commit(COMMIT_A, old).repo, commit(COMMIT_B, validPool('other', 110)).repo];
    const { plan, simulation } = asked(base, head, [inventoryNode('n0')]);
    assert.deepEqual([plan.moves[0]?.cost, plan.summary.restarts], ['restart', 1]);
    assert.deepEqual(
      simulation.events.map(({ event }) => event),
      ['started', 'returned'],
    );
  });

  for (const [name, change] of Object.entries(CHANGES)) {
    it(`say the same of who begins, with whom, in which order, refuses, and leaves: ${name}`, () => {
      fc.assert(
        fc.property(fleets, rollouts, fc.constantFrom(null, null, 1, 3), (nodes, rollout, overall) => {
          const { planned, simulated, waits, status, isTimed, took } = both(nodes, rollout, change, overall);
          // Pods leave a node before it begins, others meanwhile.
          const inOrder = (each: readonly string[]): readonly string[] =>
            took.untimed.includes('drains') ? each.toSorted() : each;
          const told = ({ generations, ...rest }: typeof planned): object => ({
            ...rest,
            generations: generations.map(inOrder),
          });
          assert.deepEqual(told(simulated), told(planned));
          if (isTimed && took.untimed.length === 0) {
            assert.ok(took.quickMs <= took.ms && took.ms <= took.slowMs, `${took.ms} of ${JSON.stringify(took)}`);
          }
          if (waits !== undefined && !waits.startsWith('the kubelets of'))
            assert.ok(status?.message?.includes(waits) || simulated.begun.length === 0, `${waits}: ${status?.message}`);
        }),
        { numRuns: 40 },
      );
    });
  }
});
