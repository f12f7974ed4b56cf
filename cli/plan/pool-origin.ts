import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';

/**
 * The pool that a new one was renamed or split from: where all its nodes come from. Without nodes, a pool that is gone and
 * said the same.
 *
 * @param members the nodes of the new pool
 * @param poolBefore the pool of a node in `base`, by name
 * @returns undefined where its nodes come from several pools or from none
 */
export function poolOriginOf(
  pool: ValidPool,
  base: LoadedRepo,
  head: LoadedRepo,
  members: readonly InventoryNode[],
  poolBefore: ReadonlyMap<string, string>,
): ValidPool | undefined {
  const valid = base.pools.filter((each) => each.status === 'valid');
  if (members.length > 0) {
    const froms = new Set(members.map(({ name }) => poolBefore.get(name)));
    return froms.size === 1 ? valid.find(({ name }) => froms.has(name)) : undefined;
  }
  const left = new Set(head.pools.map(({ name }) => name));
  const same = valid.filter(
    ({ name, sha256, spec }) => !left.has(name) && sha256 === pool.sha256 && spec.apply === pool.spec.apply,
  );
  return same.length === 1 ? same[0] : undefined;
}
