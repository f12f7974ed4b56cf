import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate } from '#cli/simulate/simulate.ts';
import { commit, COMMIT_A, COMMIT_B, NOW } from '../../support/fleet.ts';
import { poolWith, POOL } from '../../support/real-fleet/pool-with.ts';
import { sampleOf } from '../../support/sample.ts';
import { inventoryNodes } from '../support/inventory-node.ts';

const MINUTE = 60_000;

/** Minutes of a rollout as shipped but for this bound, where restarts take ten seconds. */
function minutesOf(count: number, maxUnavailable: number | string): number {
  const [before, after] = [100, 120].map((maxPods) => poolWith(maxPods, { rollout: { maxUnavailable } }));
  assert.ok(before !== undefined && after !== undefined);
  const { start, end, pools } = simulate({
    base: commit(COMMIT_A, before).repo,
    head: commit(COMMIT_B, after).repo,
    nodes: inventoryNodes(count).map((node) => ({ ...node, labels: { pool: POOL } })),
    manners: { failureRate: 0, restartMs: 10_000, random: seededRandom(1) },
    start: NOW,
    horizonMs: 7 * 86_400_000,
  });
  assert.equal(pools.get(POOL)?.phase, 'Settled');
  return (end - start) / MINUTE;
}

/** Nodes, maxUnavailable, and what is promised in minutes. The last takes 13 s of CPU. */
const PROMISES = [
  [100, 1, 120],
  [10_000, '5%', 45],
] as const;

describe('a rollout as shipped', () => {
  for (const [count, maxUnavailable, most] of sampleOf(PROMISES, PROMISES.length)) {
    it(`takes ${most} minutes at most for ${count} nodes, ${maxUnavailable} at a time`, (t) => {
      const minutes = minutesOf(count, maxUnavailable);
      t.diagnostic(`${minutes.toFixed(1)} min`);
      assert.ok(minutes <= most, `${minutes} min`);
    });
  }
});
