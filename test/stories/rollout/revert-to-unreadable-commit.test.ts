import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { LOCAL } from '#shared/contract/api/kubelet-node.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const rollout = { ...poolSpec().rollout, maxUnavailable: 1, onFailure: { threshold: 1, action: 'revert' as const } };
const [OLD, NEXT] = [100, 110].map((maxPods) => validPool('workers', maxPods, { rollout })) as [ValidPool, ValidPool];

/** Two nodes have promoted what a third one takes back, which has nothing of the config before either, when another leader takes over. */
function halted(recorded: string): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['a', 'b', 'c']) fleet.addNode(nodeView(name, 'workers'));
  fleet.inForce = commit(COMMIT_A, OLD);
  fleet.rounds(20);
  fleet.inForce = commit(COMMIT_B, NEXT);
  const nodeOf = (name: string) => fleet.fleet.kubeletNodes.get(name);
  const has = (name: string): boolean => nodeOf(name)?.status?.lastKnownGood?.sha256 === NEXT.sha256;
  for (let round = 0; round < 40 && !(has('a') && has('b')); round += 1) fleet.rounds(1);
  fleet.deadly.add(NEXT.sha256);
  const took = (): boolean => (nodeOf('c')?.status?.rejected ?? []).length > 0;
  for (let round = 0; round < 10 && !took(); round += 1) fleet.rounds(1);
  const { promotedAt: _, ...status } = nodeOf('c')?.status ?? {};
  fleet.report('c', { ...status, active: { name: LOCAL }, lastKnownGood: { name: LOCAL } });
  const pool = fleet.fleet.pools.get('workers');
  const proof = pool?.status?.proof;
  assert.ok(pool !== undefined && proof !== undefined);
  const written = { ...pool, status: { ...pool.status, proof: { ...proof, commits: [recorded] } } };
  fleet.fleet = { ...fleet.fleet, pools: new Map([['workers', written]]) };
  fleet.restart();
  for (let pass = 0; pass < 10; pass += 1) fleet.rounds(1);
  assert.equal(fleet.fleet.pools.get('workers')?.status?.halt?.action, 'revert');
  return fleet;
}

const told = (fleet: FleetSimulation): readonly (string | undefined)[] =>
  ['a', 'b'].map((name) => fleet.fleet.kubeletNodes.get(name)?.spec?.configSource?.sha256);

describe('a revert of which another leader recorded the commit', () => {
  it('takes all nodes back where the commit can be read', () => {
    assert.deepEqual(told(halted(COMMIT_A)), [OLD.sha256, OLD.sha256]);
  });

  it('leaves them on what failed where it cannot, names them, and ends with a commit that brings it back', () => {
    const fleet = halted('d'.repeat(40));
    assert.deepEqual(told(fleet), [NEXT.sha256, NEXT.sha256]);
    assert.match(fleet.fleet.pools.get('workers')?.status?.message ?? '', /3 without a config to go back to: a, b, c/);
    fleet.inForce = commit('e'.repeat(40), OLD);
    fleet.rounds(20);
    assert.deepEqual(told(fleet), [OLD.sha256, OLD.sha256]);
  });
});
