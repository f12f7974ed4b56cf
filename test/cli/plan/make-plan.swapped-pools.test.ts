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

it('nodes restart for a pool that keeps other fields of their own configs, and for no list alone', () => {
  const replacing = (name: string, label: string, keepFields: readonly string[]) =>
    validPool(name, 50, { ...selecting(label), apply: 'replace', keepFields });
  const cluster = { ...DEFAULT_CLUSTER, maxChange: 1 };
  const revision = (name: string, pools: readonly ReturnType<typeof replacing>[]) =>
    ({ name, commit: undefined, repo: { cluster, findings: [], pools }, kept: new Map() }) as const;
  const planned = (...pools: readonly ReturnType<typeof replacing>[]) =>
    makePlan({
      base: revision('base', [replacing('a', 'a', ['port']), replacing('b', 'b', [])]),
      head: revision('head', pools),
      cluster: 'prod',
      nodes: [node('a-1', 'a'), node('a-2', 'a'), node('b-1', 'b')],
      inForce: undefined,
    });
  const swapped = planned(replacing('a', 'b', ['port']), replacing('b', 'a', []));
  const touched = swapped.pools.map(({ name, nodes }) => [name, nodes.map((each) => each.name)]);
  assert.deepEqual(touched, [
    ['a', ['b-1']],
    ['b', ['a-1', 'a-2']],
  ]);
  assert.match(swapped.refusal ?? '', /another config \(b 2, a 1\), and maxChange allows 1/);
  assert.deepEqual(planned(replacing('a', 'a', ['port', 'staticPodPath']), replacing('b', 'b', ['port'])).pools, []);
});
