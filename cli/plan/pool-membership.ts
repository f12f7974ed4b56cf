import { choosePool } from '#reconciler/policy/pool-selection/choose-pool.ts';
import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';

/** Which pool each node belongs to in one revision. */
export interface PoolMembership {
  readonly pool: ReadonlyMap<string, string>;
  readonly conflicts: ReadonlyMap<string, readonly string[]>;
  /** Conflicting and opted out: they stay as they are. */
  readonly untouched: ReadonlySet<string>;
}

/** @param kept what pools with errors keep, by name */
export function poolMembershipOf(
  nodes: readonly InventoryNode[],
  repo: LoadedRepo,
  kept: ReadonlyMap<string, ValidPool>,
): PoolMembership {
  const valid = validPools(repo);
  const candidates = repo.pools.flatMap(({ name }) => {
    const pool = valid.get(name) ?? kept.get(name);
    return pool === undefined ? [] : [{ name, priority: pool.spec.priority, nodeSelector: pool.spec.nodeSelector }];
  });
  const choices = nodes.map(({ name, labels }) => [name, choosePool(labels, candidates)] as const);
  return {
    pool: new Map(
      choices.flatMap(([name, choice]) => (choice.choice === 'pool' ? [[name, choice.pool] as const] : [])),
    ),
    conflicts: new Map(
      choices.flatMap(([name, choice]) => (choice.choice === 'conflict' ? [[name, choice.pools] as const] : [])),
    ),
    untouched: new Set(
      choices.flatMap(([name, { choice }]) => (choice === 'conflict' || choice === 'opted-out' ? [name] : [])),
    ),
  };
}

export const validPools = ({ pools }: LoadedRepo): ReadonlyMap<string, ValidPool> =>
  new Map(pools.flatMap((pool) => (pool.status === 'valid' ? [[pool.name, pool] as const] : [])));
