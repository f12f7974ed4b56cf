import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DesiredPool } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { withInheritedStatus } from '#reconciler/policy/rollout/inherited-status.ts';
import { type Group, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Halt, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  configSource,
  desiredPool,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const AT = '2026-11-21T12:00:00Z';
const GIVEN = validPool('workers', 120);
const POOL = desiredPool(GIVEN);
const RETIRING: DesiredPool = { ...POOL, origin: 'retiring', config: null };

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
  const rows: readonly (readonly [
    string,
    () => Group,
    KubeletPoolStatus | undefined,
    KubeletPoolStatus | undefined,
  ])[] = [
    ['is what all of its nodes bring with them', () => groupOfNodes(POOL, had, had), undefined, brought],
    [
      'is added to the rest of the status',
      () => groupOfNodes(POOL, had),
      { message: 'm' },
      { message: 'm', ...brought },
    ],
    ['is that of the others where some were told its own', () => groupOfNodes(POOL, told, had), undefined, brought],
    ['is nothing where all were told its own', () => groupOfNodes(POOL, told), undefined, undefined],
    [
      'is nothing where they bring different ones',
      () => groupOfNodes(POOL, had, (node) => settledNode(node, OTHER)),
      undefined,
      undefined,
    ],
    ['is nothing where one has yet to prove it', () => groupOfNodes(POOL, had, unproved), undefined, undefined],
    ['is nothing where one has none', () => groupOfNodes(POOL, idleNode, had), undefined, undefined],
    ['is nothing without nodes', () => groupOfNodes(POOL), undefined, undefined],
    [
      'is what it settled on',
      () => groupOfNodes(POOL, had),
      { settled: { ...brought.settled, sha256: 'x' } },
      { settled: { ...brought.settled, sha256: 'x' } },
    ],
    ['is nothing once it has begun one', () => groupOfNodes(POOL, had), { rollout }, { rollout }],
    ['is nothing where it leaves git', () => groupOfNodes(RETIRING, had), {}, {}],
    ['is nothing where nobody knows it', () => groupOfNodes(null, had), {}, {}],
  ];
  for (const [name, group, status, expected] of rows) {
    it(name, () => assert.deepEqual(withInheritedStatus(group(), status, fleetOf({}), AT), expected));
  }
});

describe('a pool that never had a rollout', () => {
  const target = { sha256: GIVEN.sha256, apply: GIVEN.spec.apply };
  const halt = { config: 'former-x', sha256: target.sha256, at: AT, message: 'it failed', action: 'halt' } as const;
  const former = validPool('former', 90);
  const node = nodeView('n', 'workers');
  const stops = (given: {
    readonly halt?: Halt;
    readonly of?: string;
    readonly before?: KubeletPoolStatus;
    readonly isMoved?: boolean;
    readonly isUnproved?: boolean;
    readonly isSilent?: boolean;
  }): Halt | undefined => {
    const settled = given.isUnproved === true ? assignedNode(node, former) : settledNode(node, former);
    const kubeletNode = given.isMoved === true ? { ...settled, spec: { ...settled.spec, pool: 'workers' } } : settled;
    const status = given.isSilent === true ? {} : { status: { halt: given.halt ?? halt } };
    const pools = [{ metadata: { name: given.of ?? 'former' }, ...status }];
    const fleet = fleetOf({ pools, configSources: [configSource(former)] });
    const group = { pool: POOL, members: [memberOf(node, kubeletNode, target, 0, NOW)] };
    return withInheritedStatus(group, given.before, fleet, AT)?.halt;
  };

  it('is stopped by what stopped the one that its nodes come from, while the payload is the same', () => {
    assert.deepEqual(stops({}), halt);
    assert.deepEqual(stops({ isMoved: true }), halt, 'also once the nodes are known as its own');
    assert.deepEqual(stops({ isUnproved: true }), halt, 'also where they bring nothing that is proven');
    assert.equal(stops({ isSilent: true }), undefined, 'a pool without a status stopped nothing');
    assert.equal(stops({ halt: { ...halt, sha256: 'f'.repeat(64) } }), undefined);
    assert.equal(stops({ halt: { ...halt, apply: 'replace' } }), undefined);
    assert.equal(stops({ of: 'another' }), undefined);
    assert.equal(stops({ of: 'workers', isMoved: true }), undefined, 'what is its own is in its status');
  });

  it('keeps what stops it, and is stopped by no other once it has a history', () => {
    const own = { ...halt, at: '2026-11-21T13:00:00Z' };
    assert.deepEqual(stops({ before: { halt: own } }), own);
    const rollout = { configName: 'x', sha256: 'x', startedAt: AT, waves: [] };
    assert.equal(stops({ before: { rollout } }), undefined);
  });
});
