import { neverReason } from '#reconciler/policy/participation.ts';
import { selectorMatches } from '#reconciler/policy/pool-selection/selector.ts';
import { choosePool } from '#reconciler/policy/pool-selection/choose-pool.ts';
import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import type { Absent } from './who-can-begin.ts';

/** Which pool each node belongs to in one revision. */
export interface PoolMembership {
  readonly pool: ReadonlyMap<string, string>;
  readonly conflicts: ReadonlyMap<string, readonly string[]>;
  /** In conflict, or never taking part: they stay as they are. */
  readonly untouched: ReadonlySet<string>;
  /** Selected, and in no pool all the same: no agent can run there. */
  readonly unsupported: readonly Absent[];
}

/** @param kept what pools with errors keep, by name */
export function poolMembershipOf(
  nodes: readonly InventoryNode[],
  repo: Pick<LoadedRepo, 'pools'>,
  kept: ReadonlyMap<string, ValidPool>,
): PoolMembership {
  const valid = validPools(repo);
  const candidates = repo.pools.flatMap(({ name }) => {
    const pool = valid.get(name) ?? kept.get(name);
    return pool === undefined ? [] : [{ name, priority: pool.spec.priority, nodeSelector: pool.spec.nodeSelector }];
  });
  const choices = nodes.map((node) => [node.name, choosePool(node, candidates)] as const);
  const alike = Map.groupBy(
    nodes.flatMap((node) => {
      const never = neverReason(node);
      if (never?.choice !== 'unsupported') return [];
      const isSelected = candidates.some(({ nodeSelector }) => selectorMatches(nodeSelector, node.labels));
      return isSelected ? [{ name: node.name, because: never.because }] : [];
    }),
    ({ because }) => because,
  );
  return {
    pool: new Map(
      choices.flatMap(([name, choice]) => (choice.choice === 'pool' ? [[name, choice.pool] as const] : [])),
    ),
    conflicts: new Map(
      choices.flatMap(([name, choice]) => (choice.choice === 'conflict' ? [[name, choice.pools] as const] : [])),
    ),
    untouched: new Set(choices.flatMap(([name, { choice }]) => (choice === 'pool' || choice === 'none' ? [] : [name]))),
    unsupported: [...alike].map(([because, names]) => ({ nodes: names.map(({ name }) => name), because })),
  };
}

export const validPools = ({ pools }: Pick<LoadedRepo, 'pools'>): ReadonlyMap<string, ValidPool> =>
  new Map(pools.flatMap((pool) => (pool.status === 'valid' ? [[pool.name, pool] as const] : [])));
