import { disallowedDisruption } from '#reconciler/policy/disruption/disallowed-disruption.ts';
import { type Disruption, disruptionOf } from '#reconciler/policy/disruption/field-disruption.ts';
import { drainForFeatures } from '#reconciler/policy/disruption/drain-for-features.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';

export const SUSPENDED_IN_GIT = 'pool.yaml says suspend: true';

/**
 * Why the pool does not allow what a change of its config does to a node; null where it does.
 *
 * @param node undefined where its nodes are unknown
 * @param was  what it runs now; undefined for its local config, which is unknown here: that counts as a restart
 */
export function barOf(node: InventoryNode | undefined, was: ValidPool | undefined, pool: ValidPool): string | null {
  if (was === undefined) return null;
  const disruption = node === undefined ? disruptionOf(was.value, pool.value) : disruptionFor(node, was, pool);
  return disallowedDisruption(disruption, pool.spec.disruption);
}

/** What the change does to one node, as far as its pods are known. */
export function disruptionFor(
  { declares, needs, kubeletVersion }: InventoryNode,
  was: ValidPool,
  { value }: ValidPool,
): Disruption {
  return drainForFeatures(disruptionOf(was.value, value, minorNumber(kubeletVersion)), declares, needs);
}
