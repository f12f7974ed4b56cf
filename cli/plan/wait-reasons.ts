import { disallowedDisruption } from '#reconciler/policy/disruption/disallowed-disruption.ts';
import { type Disruption, disruptionOf } from '#reconciler/policy/disruption/field-disruption.ts';
import { drainForFeatures } from '#reconciler/policy/disruption/drain-for-features.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';

export const SUSPENDED_IN_GIT = 'pool.yaml says suspend: true';

/**
 * What in git would have nodes wait with a pool's config: a suspension, or a change that does more to a node than the pool
 * allows.
 *
 * @param before what its nodes run now; undefined for their local config, which is unknown here: that counts as a restart
 * @param nodes  those of them that are known, each with what it runs now
 * @returns the first reason; undefined where nothing in git is in the way
 */
export function waitReasonsFor(
  pool: ValidPool,
  before: readonly (ValidPool | undefined)[],
  nodes: readonly (readonly [InventoryNode, ValidPool | undefined])[] = [],
): string | undefined {
  const { value, spec } = pool;
  if (spec.suspend === true) return SUSPENDED_IN_GIT;
  for (const was of new Set(before)) {
    const bar = was === undefined ? null : disallowedDisruption(disruptionOf(was.value, value), spec.disruption);
    if (was === undefined || bar === null) continue;
    // Each of its nodes may have pods that need less than there may be.
    const of = nodes.filter(([, had]) => had === was);
    const bars = of.map(([node]) => disallowedDisruption(disruptionFor(node, was, pool), spec.disruption));
    const first = of.length === 0 ? bar : bars.find((each) => each !== null);
    if (first !== undefined) return first;
  }
  return undefined;
}

/** What the change does to one node, as far as its pods are known. */
export function disruptionFor(
  { declares, needs, kubeletVersion }: InventoryNode,
  was: ValidPool,
  { value }: ValidPool,
): Disruption {
  return drainForFeatures(disruptionOf(was.value, value, minorNumber(kubeletVersion)), declares, needs);
}
