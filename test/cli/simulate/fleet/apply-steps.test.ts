import assert from 'node:assert/strict';
import { it } from 'node:test';
import { applySteps } from '#cli/simulate/fleet/apply-steps.ts';
import { fleetOf, NOW, poolInCluster, poolSpec, validPool } from '../../../support/fleet.ts';

it('makes each write on what the one before left', () => {
  const pool = poolInCluster(validPool('workers', 100));
  const [spec, status] = [poolSpec({ suspend: true }), { phase: 'Waiting' } as const];
  const writes = [
    { step: 'write-pool', pool, spec },
    { step: 'write-pool-status', pool, status },
  ] as const;
  for (const steps of [writes, writes.toReversed()]) {
    const { pools } = applySteps(fleetOf({ pools: [pool] }), steps, NOW);
    assert.deepEqual(pools.get('workers'), { ...pool, spec, status });
  }
});
