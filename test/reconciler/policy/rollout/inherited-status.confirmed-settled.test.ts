import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DesiredPool, desiredState } from '#reconciler/policy/desired.ts';
import {
  withInheritedStatus,
  withConfirmedSettled,
  configsOnNodes,
} from '#reconciler/policy/rollout/inherited-status.ts';
import { type Group, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, fleetOf, idleNode, nodeView, NOW, settledNode, validPool } from '../../../support/fleet.ts';

const [GIVEN, OTHER] = [validPool('workers', 110), validPool('workers', 120)];
const node = nodeView('a', 'workers');
const settledOn = ({ configName, sha256 }: typeof GIVEN, apply: 'overlay' | 'replace' = 'overlay') => ({
  settled: { configName, sha256, apply, at: '2026-11-21T12:00:00Z' },
  message: 'more',
});

describe('what a pool’s status says that the pool settled on', () => {
  it('counts where a node was told it', () => {
    const { metadata, spec = {} } = settledNode(node, GIVEN);
    assert.deepEqual(withConfirmedSettled(settledOn(GIVEN), configsOnNodes([{ metadata, spec }])), settledOn(GIVEN));
  });

  it('counts where a node has proven it', () => {
    const proved = idleNode(node, { lastKnownGood: { name: GIVEN.configName, sha256: GIVEN.sha256 } });
    assert.deepEqual(withConfirmedSettled(settledOn(GIVEN), configsOnNodes([proved])), settledOn(GIVEN));
  });

  it('does not count where no node has it, or not in this way; the rest stays', () => {
    for (const [settled, nodes] of [
      [settledOn(OTHER), [settledNode(node, GIVEN)]],
      [settledOn(GIVEN, 'replace'), [settledNode(node, GIVEN)]],
      [settledOn(GIVEN), [idleNode(node)]],
      [settledOn(GIVEN), []],
    ] as const) {
      assert.deepEqual(withConfirmedSettled(settled, configsOnNodes(nodes)), { message: 'more' });
    }
    assert.equal(withConfirmedSettled(undefined, configsOnNodes([])), undefined);
  });
});

describe('what the nodes of a pool bring along', () => {
  const NEXT = validPool('servers', 130);
  const AT = '2026-11-21T12:00:00Z';
  const brought = settledNode(node, GIVEN);
  const unproved = settledNode(node, GIVEN, { lastKnownGood: { name: 'local' } });
  const { settled } = settledOn(GIVEN);
  const rows: readonly (readonly [
    string,
    readonly KubeletNode[],
    KubeletPoolStatus | undefined,
    KubeletPoolStatus | undefined,
  ])[] = [
    ['is what it settled on, where they all have proven it', [brought, brought], undefined, { settled }],
    ['and the rest of its status stays', [brought], { phase: 'Waiting' }, { phase: 'Waiting', settled }],
    ['is nothing where one has yet to prove it', [brought, unproved], undefined, undefined],
    ['is nothing where one was told something else', [brought, settledNode(node, OTHER)], undefined, undefined],
    ['is nothing where they have none', [idleNode(node)], undefined, undefined],
    ['is nothing where there are no nodes', [], undefined, undefined],
    ['does not count where the pool settled on something', [brought], settledOn(OTHER), settledOn(OTHER)],
  ];
  const poolOf = (config: boolean): DesiredPool | null => {
    const present = { metadata: { name: 'servers' }, spec: NEXT.spec };
    const inForce = config ? commit(COMMIT_A, NEXT) : commit(COMMIT_A, OTHER);
    return desiredState(inForce, fleetOf({ pools: [present] }), () => []).pools.get('servers') ?? null;
  };
  const groupOf = (nodes: readonly KubeletNode[], pool = poolOf(true)): Group => ({
    pool,
    members: nodes.map((each) => memberOf(node, each, targetOf(pool), 0, NOW)),
  });

  for (const [name, nodes, before, expected] of rows) {
    it(name, () => assert.deepEqual(withInheritedStatus(groupOf(nodes), before, fleetOf({}), AT), expected));
  }

  it('is nothing to a pool that leaves git', () => {
    assert.equal(withInheritedStatus(groupOf([brought], poolOf(false)), undefined, fleetOf({}), AT), undefined);
  });
});
