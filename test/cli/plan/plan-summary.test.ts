import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePlan } from '#cli/plan/make-plan.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate } from '#cli/simulate/simulate.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, validPool } from '../../support/fleet.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const MINUTE = 60_000;
const NAMES = ['a', 'b', 'c'];

const NODES = NAMES.flatMap((pool) =>
  Array.from({ length: 8 }, (_, index) => inventoryNode(`${pool}${index}`, { labels: { pool }, createdAt: index })),
);

/** Three pools of eight nodes. */
function repoOf(oid: string, maxPods: number, maxUnavailable: number): LoadedRepo {
  const pools = NAMES.map((name) => validPool(name, maxPods, { nodeSelector: { matchLabels: { pool: name } } }));
  const { repo } = commit(oid, ...pools);
  return { ...repo, cluster: { ...repo.cluster, maxUnavailable } };
}

describe('the time of a plan for pools that share a bound', () => {
  for (const bound of [1, 2, 20]) {
    it(`is what it is in a simulation, where ${bound} may be unavailable`, () => {
      const [base, head] = [repoOf(COMMIT_A, 100, bound), repoOf(COMMIT_B, 110, bound)];
      const sides = {
        base: { name: 'a', commit: undefined, repo: base, kept: new Map() },
        head: { name: 'b', repo: head },
      };
      const { summary } = makePlan({ ...sides, cluster: 'demo', nodes: NODES, inForce: undefined });
      const manners = { failureRate: 0, restartMs: 10_000, random: seededRandom(1) };
      const { start, events } = simulate({
        base,
        head,
        nodes: NODES,
        manners,
        start: NOW,
        horizonMs: 2_000 * MINUTE,
      });
      const proved = events.filter(({ event }) => event === 'proved');
      assert.equal(proved.length, NODES.length);
      const tookMs = (proved.at(-1)?.at ?? start) - start;
      const off = Math.abs(summary.expectedMs - tookMs);
      assert.ok(off <= MINUTE + 0.03 * tookMs, `${summary.expectedMs / MINUTE} and ${tookMs / MINUTE} minutes`);
    });
  }
});
