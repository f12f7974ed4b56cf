import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { describeTemplate } from '#reconciler/policy/templates/template.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { InventoryNode } from './inventory/inventory-node.ts';

/** The pool as one node gets it, with values computed for its machine; undefined if that has no config. */
export function poolFor(pool: ValidPool | undefined, node: InventoryNode): ValidPool | undefined {
  return pool?.template === undefined ? pool : classFor(pool, node).pool;
}

/** The class of a node in a pool with computed values, sorted by its size alone: an inventory does not know what it was before. */
export const classFor = (pool: ValidPool, node: InventoryNode): ReturnType<typeof poolOfNode>['class'] =>
  poolOfNode(pool, { size: node, labels: node.labels, numaNodes: node.numaNodes }).class;

/**
 * What a node gets of the pool that it is in.
 *
 * @throws GitopsError if its machine has no config
 */
export function requirePoolFor(pool: ValidPool, node: InventoryNode): ValidPool {
  if (pool.template === undefined) return pool;
  const { pool: given, because = '' } = classFor(pool, node);
  if (given !== undefined) return given;
  throw new GitopsError(
    'NOT_COMPUTABLE',
    `pool ${pool.name} has no config for the machine of ${node.name}: ${because}`,
  );
}

/** What a pool says, for people: expressions in place of computed values. */
export const poolValueForDisplay = (pool: ValidPool | undefined): ValidPool['value'] | null =>
  pool === undefined ? null : pool.template === undefined ? pool.value : describeTemplate(pool.template);
