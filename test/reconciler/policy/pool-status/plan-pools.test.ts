import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommitInForce, type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { plan } from '#reconciler/policy/plan.ts';
import {
  commit,
  COMMIT_B,
  fleetOf,
  idleNode,
  nodeView,
  invalidPool,
  NOW,
  poolInCluster,
  poolSpec,
  validPool,
} from '../../../support/fleet.ts';
import { SETTINGS, fleetWith, statusOf, settled, old, a } from './support/pool-of-three.ts';

describe('the writes of pools', () => {
  const planned = (inForce: CommitInForce | null, fleet: Fleet, known?: Desired['pools']) =>
    plan(
      desiredState(inForce, fleet, () => [], undefined, known),
      fleet,
      SETTINGS,
      NOW,
    ).steps;
  const writes = (...given: Parameters<typeof planned>): readonly string[] =>
    planned(...given)
      .map(({ step }) => step)
      .filter((step) => step.includes('pool'));

  it('are a status that is another than before, and none that is the same', () => {
    const fleet = fleetWith(settled);
    assert.deepEqual(writes(commit(COMMIT_B, old), fleet), ['write-pool-status']);
    const status = statusOf(commit(COMMIT_B, old), fleet);
    assert.deepEqual(writes(commit(COMMIT_B, old), fleetWith(settled, poolInCluster(old, status))), []);
  });

  it('are a status without a number that JSON does not have, of a pool that has lost its last node as well', () => {
    const { probation: _, ...usual } = poolSpec().rollout;
    for (const canary of [{ nodes: 2 }, { nodes: '10%' }, { nodes: 1, perClass: true }]) {
      const empty = validPool('workers', 1, { rollout: { ...usual, canary } });
      const status = statusOf(commit(COMMIT_B, empty), fleetOf({ pools: [poolInCluster(empty)] }));
      const kept = JSON.parse(JSON.stringify(status)) as KubeletPool['status'];
      assert.deepEqual(kept?.rollout, status?.rollout);
      assert.deepEqual(writes(commit(COMMIT_B, empty), fleetOf({ pools: [poolInCluster(empty, kept)] })), []);
    }
  });

  it('are no status of a pool that is to be made, and none of one that goes', () => {
    assert.deepEqual(writes(commit(COMMIT_B, old), { ...fleetWith(settled), pools: new Map() }), ['create-pool']);
    const over = fleetOf({ nodes: [a], kubeletNodes: [idleNode(a)], pools: [poolInCluster(old)] });
    assert.deepEqual(writes(commit(COMMIT_B), over), ['delete-pool']);
    const goes = { step: 'delete-pool', pool: 'workers', uid: 'p-workers' };
    assert.deepEqual(planned(commit(COMMIT_B), over).at(-1), goes);
  });

  const halt = { config: old.configName, sha256: old.sha256, at: '2026-11-21T12:00:00Z', message: 'it failed' };
  const halted = poolInCluster(old, { phase: 'Halted', halt: { ...halt, action: 'halt' } });
  const fresh = validPool('fresh', 1);

  it('are a status beside a pool that has none yet, also where the other one was halted', () => {
    const written = writes(commit(COMMIT_B, old, fresh), fleetWith(settled, halted));
    assert.deepEqual(written, ['create-pool', 'write-pool-status']);
  });

  it('are all specs before the first status, so that many go side by side', () => {
    const pools = ['blue', 'green', 'red'].map((name) => validPool(name, 1));
    const others = pools.map(({ name }) => poolInCluster(validPool(name, 1, { priority: 7 })));
    const written = writes(commit(COMMIT_B, ...pools), fleetOf({ pools: others }));
    assert.deepEqual(written, [...Array<string>(3).fill('write-pool'), ...Array<string>(3).fill('write-pool-status')]);
  });

  const leaves: readonly (readonly [string, KubeletPool, readonly string[]])[] = [
    ['and was halted stays until others have a status', halted, ['create-pool']],
    ['and was not halted goes', poolInCluster(old), ['create-pool', 'delete-pool']],
    ['and never had a status goes', { metadata: halted.metadata, spec: old.spec }, ['create-pool', 'delete-pool']],
  ];
  for (const [name, pool, expected] of leaves) {
    it(`are for a pool that left git ${name}`, () => {
      assert.deepEqual(writes(commit(COMMIT_B, fresh), fleetOf({ pools: [pool] })), expected);
    });
  }

  it('are none for nodes whose pool nobody knows: a halted one that left git does not wait for them', () => {
    const stray = nodeView('a', '');
    const kubeletNode = { ...idleNode(stray), spec: { pool: 'forgotten' } };
    const fleet = fleetOf({ nodes: [stray], kubeletNodes: [kubeletNode], pools: [halted] });
    assert.deepEqual(writes(commit(COMMIT_B), fleet), ['delete-pool']);
  });

  it('are no spec where the commit is wrong about it', () => {
    const other = poolInCluster(validPool('workers', 110, { priority: 7 }));
    assert.ok(!writes(commit(COMMIT_B, invalidPool('workers')), fleetWith(settled, other)).includes('write-pool'));
    assert.ok(writes(commit(COMMIT_B, old), fleetWith(settled, other)).includes('write-pool'));
    const { pools } = desiredState(commit(COMMIT_B, old), fleetWith(settled), () => []);
    const known = writes(commit(COMMIT_B, invalidPool('workers')), fleetWith(settled, other), pools);
    assert.ok(!known.includes('write-pool'), 'though a commit before was not');
  });
});
