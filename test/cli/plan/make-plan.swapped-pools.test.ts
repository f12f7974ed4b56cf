import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makePlan } from '#cli/plan/make-plan.ts';
import { failuresIn } from '#cli/plan/plan-summary.ts';
import { clusterChanges } from '#cli/plan/spec-changes.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { validPool } from '../../support/fleet.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const node = (name: string, pool: string) => inventoryNode(name, { labels: { pool } });

const selecting = (label: string) => ({ nodeSelector: { matchLabels: { pool: label } } });
const ALIGNED = { topologyManagerPolicy: 'best-effort' };

it('nodes that come to a pool are judged by what they had, not by what the pool said to others', () => {
  const cluster = DEFAULT_CLUSTER;
  const plan = makePlan({
    base: {
      name: 'base',
      commit: undefined,
      repo: {
        cluster,
        findings: [],
        pools: [validPool('a', 50, selecting('a'), ALIGNED), validPool('b', 110, selecting('b'))],
      },
      kept: new Map(),
    },
    head: {
      name: 'head',
      repo: {
        cluster,
        findings: [],
        pools: [validPool('a', 120, selecting('b')), validPool('b', 50, selecting('a'), ALIGNED)],
      },
    },
    cluster: 'prod',
    nodes: [node('a-1', 'a'), node('b-1', 'b')],
    inForce: undefined,
  });
  assert.deepEqual(
    plan.pools.map(({ name, nodes, waits }) => [name, nodes.map((each) => each.name), waits]),
    [
      ['a', ['b-1'], undefined],
      ['b', [], undefined],
    ],
  );
  assert.ok(!failuresIn(plan).has('stuck'));
});

it('a cluster’s file that is new is told by what it says, not that it was missing', () => {
  assert.deepEqual(clusterChanges({ ...DEFAULT_CLUSTER, missing: true }, { ...DEFAULT_CLUSTER, suspend: true }), [
    'suspend: false → true',
  ]);
});
