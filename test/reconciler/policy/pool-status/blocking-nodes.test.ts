import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { blockingNodes } from '#reconciler/policy/pool-status/blocking-nodes.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

/** The nodes of two pools that settled; then some of them are as they are now, and the first pool gets another config. */
function blocking(
  views: Readonly<Record<string, Partial<NodeView>>>,
  rollout: Partial<RolloutSpec> = {},
  maxUnavailable: number | null = null,
  ofOther = 100,
): Readonly<Record<string, readonly string[]>> {
  const fleet = new FleetSimulation();
  const spec = { rollout: { ...poolSpec().rollout, ...rollout } };
  const nodes = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => nodeView(name, name.startsWith('a') ? 'a' : 'b'));
  for (const node of nodes) fleet.addNode(node);
  const inForce = commit(COMMIT_A, validPool('a', 100, spec), validPool('b', 100, spec));
  fleet.inForce = inForce;
  fleet.rounds(30);
  for (const node of nodes) fleet.addNode({ ...node, ...views[node.name] });
  const { repo } = commit(COMMIT_B, validPool('a', 110, spec), validPool('b', ofOther, spec));
  fleet.inForce = { oid: COMMIT_B, repo: { ...repo, cluster: { ...repo.cluster, maxUnavailable } } };
  for (let pass = 0; pass < 3; pass += 1) fleet.reconcile();
  const { nodes: planned, pools } = fleet.reconcile();
  return Object.fromEntries(blockingNodes(planned, pools));
}

const AWAY = { cordoned: true };

describe('the nodes that a pool waits for', () => {
  it('are those that alone fill its maxUnavailable', () => {
    assert.deepEqual(blocking({ a1: AWAY }), { a: ['a1'] });
    assert.deepEqual(blocking({ a1: AWAY, a2: { ready: false } }, { maxUnavailable: 2 }), { a: ['a1', 'a2'] });
  });

  it('are none while another node has its turn, and where there is a place', () => {
    assert.deepEqual(blocking({ a1: AWAY }, { maxUnavailable: 2 }), {});
    assert.deepEqual(blocking({}), {});
  });

  it('are none of another pool, unless a bound over all pools is full', () => {
    assert.deepEqual(blocking({ b1: AWAY }), {});
    assert.deepEqual(blocking({ b1: AWAY }, {}, 1), { a: ['b1'] });
  });

  it('are none while a node of another pool is changed, whose place comes free by itself', () => {
    assert.deepEqual(blocking({ a1: AWAY }, { maxUnavailable: 2 }, 2, 110), {});
    assert.deepEqual(blocking({ a1: AWAY, a2: AWAY }, { maxUnavailable: 2 }, 2, 110), {
      a: ['a1', 'a2'],
      b: ['a1', 'a2'],
    });
  });

  it('are none where the pool waits for something else, or allows none to be unavailable', () => {
    assert.deepEqual(blocking({}, { maxUnavailable: 0 }), {});
    const inApril = { allow: [{ cron: '0 4 1 4 *', duration: '1h' }], deny: [], overrun: 'stop' as const };
    assert.deepEqual(blocking({ a1: AWAY }, { windows: inApril }), {});
  });

  it('are none that only leave', () => {
    assert.deepEqual(blocking({ a1: { leaving: 'it goes' } }), {});
  });
});
