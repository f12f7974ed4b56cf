import { isAdopted } from '../make-plan.ts';
import type { PoolPlan } from '../merge-plan.ts';

/** Pools of which the same is to be said but for their nodes; one at least. */
export type SimilarPools = readonly [PoolPlan, ...(readonly PoolPlan[])];

/** From so many pools on, the order of nodes is left out: it would not be read, and a comment has an end. */
export const MANY_POOLS = 4;

/** A change of a shared layer changes many pools in the same way: that is said once. In the order of the first of each. */
export function groupSimilarPools(pools: readonly PoolPlan[]): readonly SimilarPools[] {
  const groups = Map.groupBy(pools, (pool) => {
    const { name, change, fields, spec, cost, waits } = pool;
    const isAlone =
      change === 'invalid' ||
      change === 'removed' ||
      pool.from !== undefined ||
      isAdopted(pool) ||
      pool.classes !== undefined;
    return JSON.stringify(isAlone ? name : [change, fields, spec, cost, waits]);
  });
  return [...groups.values()].flatMap(([first, ...rest]) => (first === undefined ? [] : [[first, ...rest] as const]));
}
