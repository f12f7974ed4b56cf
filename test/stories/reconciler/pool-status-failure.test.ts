import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RejectedConfig } from '#shared/contract/api/kubelet-node.ts';
import { commit, COMMIT_A, nodeView, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

it('tells of a failed node the failure that counts, and not that of the same payload applied in another way', () => {
  const fleet = new FleetSimulation();
  fleet.addNode(nodeView('n1', 'workers'));
  const pool = validPool('workers', 110);
  fleet.inForce = commit(COMMIT_A, pool);
  for (let round = 0; round < 3; round += 1) fleet.reconcile();
  const node = fleet.fleet.kubeletNodes.get('n1');
  assert.equal(node?.spec?.configSource?.sha256, pool.sha256);
  const about = { name: pool.configName, sha256: pool.sha256, message: 'it failed' };
  const rejected: readonly RejectedConfig[] = [
    { ...about, apply: 'replace', reason: 'CannotInstall', at: '2026-11-20T12:00:00Z' },
    { ...about, apply: 'overlay', reason: 'CrashLoop', at: '2026-11-21T12:00:00Z' },
  ];
  const assigned = { name: pool.configName, sha256: pool.sha256 };
  const heard = { observedGeneration: node.metadata.generation ?? 0, assigned };
  fleet.report('n1', { ...node.status, ...heard, phase: 'Idle', rejected });
  fleet.reconcile();
  const failures = fleet.fleet.pools.get('workers')?.status?.failures ?? [];
  assert.deepEqual(
    failures.map(({ reason, at }) => `${reason} ${at}`),
    ['CrashLoop 2026-11-21T12:00:00Z'],
  );
});
