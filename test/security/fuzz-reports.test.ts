import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../support/property.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { commit, COMMIT_A, nodeView, validPool } from '../support/fleet.ts';
import { FleetSimulation } from '../support/fleet-simulation.ts';
import { survives } from './support/hostile.ts';

describe('an agent that was taken over', () => {
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
    const forged = fc.record({
      phase: texts,
      heartbeat: texts,
      kubeletVersion: texts,
      name: texts,
      sha256: texts,
      at: texts,
      reason: texts,
    });
    await fc.assert(
      fc.asyncProperty(forged, async ({ phase, heartbeat, kubeletVersion, name, sha256, at, reason }) => {
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
        for (const node of ['honest', 'taken-over']) fleet.addNode(nodeView(node, 'workers'));
        const pool = validPool('workers', 100, {
          rollout: { maxUnavailable: 2, soak: '0s', onFailure: { threshold: 2, action: 'halt' } },
        });
        fleet.inForce = commit(COMMIT_A, pool);
        for (let round = 0; round < 8; round += 1) {
          await survives(() => fleet.reconcile());
          fleet.agentStep('honest');
          fleet.report('taken-over', lie);
        }
        assert.equal(fleet.fleet.kubeletNodes.get('honest')?.status?.active?.name, pool.configName);
      }),
      { numRuns: 200 },
    );
  });
});
