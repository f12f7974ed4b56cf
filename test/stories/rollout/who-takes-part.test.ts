import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainNodes } from '#reconciler/policy/pool-status/explain-nodes.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { DisruptionSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const CANARY: Partial<RolloutSpec> = { canary: { nodes: 1, soak: '0s' } };
const DRAINS: DisruptionSpec = { allow: ['restart', 'drain'], drainTimeout: '10m' };

/** Nodes that settled on a config, the first of them the oldest; then these are as they are from now on, and another commit comes. */
function story(
  nodes: readonly string[],
  views: Readonly<Record<string, Partial<NodeView>>> = {},
  rollout: Partial<RolloutSpec> = {},
  disruption?: DisruptionSpec,
): FleetSimulation {
  const fleet = new FleetSimulation();
  const spec = {
    rollout: { ...poolSpec().rollout, ...rollout },
    ...(disruption === undefined ? {} : { disruption }),
  };
  for (const [index, name] of nodes.entries()) {
    fleet.addNode(nodeView(name, 'workers', { createdAt: fleet.now - (100 - index) * 86_400_000 }));
  }
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100, spec));
  for (let round = 0; round < 10 * nodes.length; round += 1) work(fleet);
  for (const [name, view] of Object.entries(views)) be(fleet, name, view);
  const fields = disruption === undefined ? {} : { topologyManagerScope: 'pod' };
  fleet.inForce = commit(COMMIT_B, validPool('workers', 120, spec, fields));
  return fleet;
}

function be(fleet: FleetSimulation, name: string, view: Partial<NodeView>): void {
  const known = fleet.fleet.nodes.get(name) ?? nodeView(name, 'workers');
  fleet.addNode({ ...known, ...view });
}

/** A round of everybody, which takes a minute. */
function work(fleet: FleetSimulation): readonly Step[] {
  const { steps } = fleet.reconcile();
  fleet.agentsStep();
  fleet.now += MINUTE;
  return steps;
}

/** In the order in which nodes were told the second config, and drained for it. */
function playOut(
  fleet: FleetSimulation,
  rounds: number,
): { readonly told: readonly string[]; readonly drained: boolean } {
  const told = new Set<string>();
  let drained = false;
  for (let round = 0; round < rounds; round += 1) {
    for (const step of work(fleet)) {
      if (step.step === 'assign') told.add(step.node.metadata.name);
      if (step.step === 'cordon') drained = true;
    }
  }
  return { told: [...told], drained };
}

const pool = (fleet: FleetSimulation) => fleet.fleet.pools.get('workers')?.status;

describe('nodes on which no agent can run', () => {
  const fargate = nodeView('fargate', 'workers', {
    labels: { pool: 'workers', 'eks.amazonaws.com/compute-type': 'fargate' },
  });
  const virtual = nodeView('virtual', 'workers', { virtual: true });

  it('hold no place in a pool that selects them, and it settles without them', () => {
    const fleet = story(['a', 'b', 'c']);
    for (const node of [fargate, virtual]) fleet.addNode({ ...node, ready: false });
    const { told } = playOut(fleet, 40);
    assert.deepEqual(told, ['b', 'a', 'c']);
    assert.deepEqual([pool(fleet)?.phase, pool(fleet)?.counts?.nodes], ['Settled', 3]);
    const said = explainNodes(fleet.reconcile().nodes, fleet.fleet, fleet.now);
    assert.deepEqual(
      said.flatMap(({ node, now }) => (now === 'unsupported' ? [node] : [])),
      ['fargate', 'virtual'],
    );
  });

  it('keep what they were told before, as nodes that are opted out do', () => {
    const kwok = { labels: { pool: 'workers', type: 'kwok' } };
    const fleet = story(['a', 'b'], { b: kwok });
    const { configSource } = fleet.fleet.kubeletNodes.get('b')?.spec ?? {};
    assert.ok(configSource !== undefined);
    playOut(fleet, 30);
    assert.deepEqual(fleet.fleet.kubeletNodes.get('b')?.spec?.configSource, configSource);
    assert.equal(pool(fleet)?.phase, 'Settled');
  });
});

describe('a node that is about to be removed', () => {
  const LEAVING = { leaving: 'cluster-autoscaler removes it' };

  it('is no canary, though it is the oldest, and is not tried later either', () => {
    const fleet = story(['a', 'b', 'c', 'd'], { a: LEAVING, c: LEAVING }, CANARY);
    const { told } = playOut(fleet, 40);
    assert.deepEqual(told, ['b', 'd']);
    assert.deepEqual(
      pool(fleet)?.holds?.map(({ reason, examples }) => [reason, examples]),
      [['leaving', ['a', 'c']]],
    );
  });

  it('is not drained by us, and one whose drain had begun is let be', () => {
    const fleet = story(['a', 'b'], { a: LEAVING, b: LEAVING }, {}, DRAINS);
    assert.deepEqual(playOut(fleet, 20), { told: [], drained: false });
    be(fleet, 'a', { leaving: undefined as never });
    fleet.reconcile();
    assert.ok(fleet.fleet.nodes.get('a')?.drain !== undefined);
    be(fleet, 'a', LEAVING);
    fleet.evicted.length = 0;
    fleet.reconcile();
    fleet.reconcile();
    assert.deepEqual([fleet.evicted, fleet.fleet.nodes.get('a')?.drain], [[], undefined]);
  });

  it('keeps its rollout no longer than an hour from its end, if it stays', () => {
    const fleet = story(['a', 'b', 'c'], { a: LEAVING });
    playOut(fleet, 40);
    assert.equal(pool(fleet)?.rollout?.finishedAt, undefined);
    playOut(fleet, 40);
    assert.ok(pool(fleet)?.rollout?.finishedAt !== undefined);
  });

  it('takes part again when it stays after all', () => {
    const fleet = story(['a', 'b'], { a: LEAVING });
    playOut(fleet, 20);
    const { leaving: _, ...view } = fleet.fleet.nodes.get('a') ?? nodeView('a', 'workers');
    fleet.addNode(view);
    playOut(fleet, 20);
    assert.equal(pool(fleet)?.phase, 'Settled');
  });

  it('is behind others where the autoscaler only may remove it', () => {
    const fleet = story(['a', 'b', 'c'], { a: { deletionCandidate: true } }, CANARY);
    assert.deepEqual(playOut(fleet, 40).told, ['c', 'b', 'a']);
    assert.equal(pool(fleet)?.phase, 'Settled');
  });
});
