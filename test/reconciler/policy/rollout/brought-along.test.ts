import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DesiredPool, desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { withHeritage } from '#reconciler/policy/rollout/heritage.ts';
import { type Group, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const AT = '2026-11-21T12:00:00Z';
const GIVEN = validPool('workers', 120);
const POOL = desiredState(commit(COMMIT_B, GIVEN), fleetOf({}), () => []).pools.get('workers') ?? null;
const RETIRING: DesiredPool | null = POOL && { ...POOL, origin: 'retiring', config: null };

describe('what a pool counts as having settled on before its first rollout', () => {
  const [HAD, OTHER] = [validPool('former', 90), validPool('former', 91)];
  const groupOfNodes = (pool: DesiredPool | null, ...all: readonly ((node: NodeView) => KubeletNode)[]): Group => ({
    pool,
    members: all.map((is, index) => {
      const node = nodeView(`n${index}`, 'workers');
      return memberOf(node, is(node), targetOf(pool), 0, NOW);
    }),
  });
  const had = (node: NodeView) => settledNode(node, HAD);
  const brought = { settled: { configName: HAD.configName, sha256: HAD.sha256, apply: 'overlay', at: AT } } as const;
  const told = (node: NodeView) => assignedNode(node, GIVEN);
  const unproved = (node: NodeView) => assignedNode(node, HAD);
  const rollout = { configName: 'x', sha256: 'x', startedAt: AT, waves: [] };
  const rows: readonly (readonly [string, Group, KubeletPoolStatus | undefined, KubeletPoolStatus | undefined])[] = [
    ['is what all of its nodes bring with them', groupOfNodes(POOL, had, had), undefined, brought],
    ['is added to the rest of the status', groupOfNodes(POOL, had), { message: 'm' }, { message: 'm', ...brought }],
    ['is that of the others where some were told its own', groupOfNodes(POOL, told, had), undefined, brought],
    ['is nothing where all were told its own', groupOfNodes(POOL, told), undefined, undefined],
    [
      'is nothing where they bring different ones',
      groupOfNodes(POOL, had, (node) => settledNode(node, OTHER)),
      undefined,
      undefined,
    ],
    ['is nothing where one has yet to prove it', groupOfNodes(POOL, had, unproved), undefined, undefined],
    ['is nothing where one has none', groupOfNodes(POOL, idleNode, had), undefined, undefined],
    ['is nothing without nodes', groupOfNodes(POOL), undefined, undefined],
    [
      'is what it settled on',
      groupOfNodes(POOL, had),
      { settled: { ...brought.settled, sha256: 'x' } },
      { settled: { ...brought.settled, sha256: 'x' } },
    ],
    ['is nothing once it has begun one', groupOfNodes(POOL, had), { rollout }, { rollout }],
    ['is nothing where it leaves git', groupOfNodes(RETIRING, had), {}, {}],
    ['is nothing where nobody knows it', groupOfNodes(null, had), {}, {}],
  ];
  for (const [name, group, status, expected] of rows) {
    it(name, () => assert.deepEqual(withHeritage(group, status, AT), expected));
  }
});
