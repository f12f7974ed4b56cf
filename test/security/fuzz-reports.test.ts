import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAllAsyncOf } from '../support/property.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../support/fleet.ts';
import { FleetSimulation } from '../support/fleet-simulation.ts';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { survives } from './support/hostile.ts';

const HONEST = ['honest-1', 'honest-2'];

describe('a node that was taken over', () => {
  const status = {
    phase: 'Idle',
    heartbeat: '2026-11-21T12:00:00Z',
    kubeletVersion: 'v1.34.2',
    assigned: { name: 'workers-a', sha256: 'a' },
    active: { name: 'workers-a', sha256: 'a' },
    lastKnownGood: { name: 'local' },
    rejected: [{ name: 'workers-a', sha256: 'a', reason: 'KubeletDied', message: 'm', at: '2026-11-21T12:00:00Z' }],
    error: { reason: 'KubeletDied', message: 'm', at: '2026-11-21T12:00:00Z' },
  };

  it('does not keep the others from being changed, whatever of the right type it reports', async () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('', 'workers-a', 'local', '9'.repeat(300), 'NaN', '__proto__'),
    );
    const versions = fc.oneof(texts, fc.constantFrom('v1.20.15', 'v1.21.0', 'v1.26.3', 'v1.37.0', 'v1.99.0', 'v0.1.0'));
    const forged = fc.record({
      phase: texts,
      heartbeat: texts,
      kubeletVersion: versions,
      name: texts,
      sha256: texts,
      at: texts,
      reason: texts,
      // A kubelet writes that of its own Node.
      version: versions,
    });
    await forAllAsyncOf(
      200,
      forged,
      async ({ phase, heartbeat, kubeletVersion, name, sha256, at, reason, version }) => {
        const lie = {
          ...status,
          phase,
          heartbeat,
          kubeletVersion,
          assigned: { name, sha256 },
          active: { name, sha256 },
          rejected: [{ name, sha256, reason, message: reason, at }],
          error: { reason, message: reason, at },
          awaitsTurn: { reason, seen: sha256, message: reason, base: sha256 },
          refusedBase: { sha256, message: reason, at },
        } as unknown as KubeletNodeStatus;
        const fleet = new FleetSimulation();
        fleet.judge = judgePool;
        for (const node of HONEST) fleet.addNode(nodeView(node, 'workers'));
        fleet.addNode(nodeView('taken-over', 'workers', { kubeletVersion: version }));
        const rollout = { maxUnavailable: 3, soak: '0s', onFailure: { threshold: 2, action: 'halt' } } as const;
        // Kubelets before 1.27 do not know it.
        const fields = { serializeImagePulls: false, maxParallelImagePulls: 5 };
        const pools = [100, 120].map((maxPods) => validPool('workers', maxPods, { rollout }, fields));
        for (const [index, pool] of pools.entries()) {
          fleet.inForce = commit(index === 0 ? COMMIT_A : COMMIT_B, pool);
          for (let round = 0; round < 8; round += 1) {
            fleet.report('taken-over', lie);
            await survives(() => fleet.reconcile());
            for (const node of HONEST) fleet.agentStep(node);
          }
          for (const node of HONEST)
            assert.equal(fleet.fleet.kubeletNodes.get(node)?.status?.active?.name, pool.configName, node);
        }
      },
    );
  });
});
