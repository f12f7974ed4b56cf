import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { limitOf, thresholdOf } from '#reconciler/policy/rollout/amount.ts';
import { isControlPlane } from '#reconciler/policy/rollout/budget.ts';
import { commit, COMMIT_A, nodeView, poolSpec, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

const GOOD = [101, 102, 103] as const;
const DEADLY = 666;
const maxUnavailable = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constantFrom('10%', '34%', '50%'));

type Event =
  | { readonly event: 'commit'; readonly maxPods: number }
  | { readonly event: 'agent'; readonly node: number }
  | { readonly event: 'ready' | 'not-ready' | 'cordon' | 'join' | 'leave'; readonly node: number };

const events: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ event: fc.constant('commit' as const), maxPods: fc.constantFrom(...GOOD, DEADLY) }),
  },
  { weight: 6, arbitrary: fc.record({ event: fc.constant('agent' as const), node: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      event: fc.constantFrom(
        'ready' as const,
        'not-ready' as const,
        'cordon' as const,
        'join' as const,
        'leave' as const,
      ),
      node: fc.nat(9),
    }),
  },
);

function start(
  nodes: number,
  allowed: number | string,
): { readonly fleet: FleetSimulation; readonly pool: (maxPods: number) => ReturnType<typeof validPool> } {
  const fleet = new FleetSimulation();
  const pool = (maxPods: number): ReturnType<typeof validPool> =>
    validPool('workers', maxPods, { rollout: { ...poolSpec().rollout, maxUnavailable: allowed } });
  fleet.deadly.add(pool(DEADLY).sha256);
  for (let i = 0; i < nodes; i += 1) fleet.addNode(nodeView(`n${i}`, 'workers'));
  fleet.inForce = commit(COMMIT_A, pool(GOOD[0]));
  return { fleet, pool };
}

function happen(fleet: FleetSimulation, pool: (maxPods: number) => ReturnType<typeof validPool>, event: Event): void {
  if (event.event === 'commit') {
    fleet.inForce = commit(COMMIT_A, pool(event.maxPods));
    return;
  }
  const name = `n${event.node}`;
  const node = fleet.fleet.nodes.get(name);
  if (event.event === 'agent') fleet.agentStep(name);
  else if (event.event === 'join')
    fleet.addNode(node ?? nodeView(name, 'workers', { uid: `${name}-${Math.floor(fleet.exposed.size)}` }));
  else if (event.event === 'leave') fleet.removeNode(name);
  else if (node !== undefined)
    fleet.addNode({ ...node, ready: event.event !== 'not-ready', cordoned: event.event === 'cordon' });
}

describe('nodes that go one at a time', () => {
  for (const [label, isOne] of [
    ['node-role.kubernetes.io/control-plane', true],
    ['node-role.kubernetes.io/master', true],
    ['node-role.kubernetes.io/etcd', true],
    ['node-role.kubernetes.io/worker', false],
    ['example.com/etcd', false],
  ] as const) {
    it(`${isOne ? 'are' : 'are not'} those with the label ${label}`, () => {
      for (const value of ['', 'true']) assert.equal(isControlPlane({ [label]: value }), isOne);
    });
  }
});

describe('budgets', () => {
  it('round as Kubernetes does, and never to a standstill that nobody asked for', () => {
    assert.deepEqual(
      [limitOf(2, 10), limitOf('25%', 10), limitOf('10%', 5), limitOf('0%', 5), limitOf(0, 5), limitOf('100%', 5)],
      [2, 2, 1, 0, 0, 5],
    );
    assert.deepEqual(
      [thresholdOf(2, 10), thresholdOf('25%', 10), thresholdOf('1%', 5), thresholdOf(0, 5)],
      [2, 3, 1, 1],
    );
  });

  it('are never exceeded by a node whose turn it was, whatever happens around', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        maxUnavailable,
        fc.array(events, { maxLength: 120 }),
        (nodes, allowed, story) => {
          const { fleet, pool } = start(nodes, allowed);
          for (const event of story) {
            happen(fleet, pool, event);
            const { nodes: planned } = fleet.reconcile();
            for (const { group, decisions } of planned.groups) {
              const turns = decisions.filter(
                ({ verdict }) => verdict.verdict === 'change' && verdict.because === 'its turn has come',
              );
              const busy = group.members.filter((member) => member.unavailable).length;
              if (turns.length > 0) assert.ok(busy + turns.length <= limitOf(allowed, group.members.length));
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('bound how many nodes ever see a payload that kills kubelets', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        maxUnavailable,
        fc.infiniteStream(fc.nat(9)),
        (nodes, allowed, order) => {
          const { fleet, pool } = start(nodes, allowed);
          run(fleet, order, 200);
          fleet.inForce = commit(COMMIT_A, pool(DEADLY));
          run(fleet, order, 200);
          assert.ok((fleet.exposed.get(pool(DEADLY).sha256)?.size ?? 0) <= limitOf(allowed, nodes));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never keep a good payload from reaching everybody in the end', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        maxUnavailable,
        fc.array(events, { maxLength: 60 }),
        (nodes, allowed, story) => {
          const { fleet, pool } = start(nodes, allowed);
          for (const event of story) {
            happen(fleet, pool, event);
            fleet.reconcile();
          }
          for (const node of fleet.fleet.nodes.values()) fleet.addNode({ ...node, ready: true, cordoned: false });
          fleet.inForce = commit(COMMIT_A, pool(GOOD[2]));
          for (let round = 0; round < 60; round += 1) {
            fleet.reconcile();
            for (const name of fleet.fleet.nodes.keys()) fleet.agentStep(name);
          }
          const phase = fleet.reconcile().pools.get('workers')?.phase;
          assert.equal(phase, fleet.fleet.nodes.size === 0 ? 'Empty' : 'Settled');
          assert.deepEqual(fleet.reconcile().steps, []);
        },
      ),
      { numRuns: 200 },
    );
  });
});

function run(fleet: FleetSimulation, order: Iterator<number>, steps: number): void {
  for (let i = 0; i < steps; i += 1) {
    fleet.reconcile();
    fleet.agentStep(`n${order.next().value ?? 0}`);
  }
}
