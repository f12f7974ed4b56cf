import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withInheritedStatus } from '#reconciler/policy/rollout/halt.ts';
import { memberOf } from '#reconciler/policy/rollout/membership.ts';
import type { Halt, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  configSource,
  desiredPool,
  fleetOf,
  nodeView,
  NOW,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const AT = '2026-11-21T12:00:00Z';
const GIVEN = validPool('workers', 120);
const POOL = desiredPool(GIVEN);

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
    return withInheritedStatus(group, given.before, fleet)?.halt;
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
