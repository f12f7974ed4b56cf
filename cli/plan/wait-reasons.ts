import { disallowedDisruption } from '#reconciler/policy/disruption/disallowed-disruption.ts';
import { type Disruption, disruptionOf } from '#reconciler/policy/disruption/field-disruption.ts';
import { drainForFeatures } from '#reconciler/policy/disruption/drain-for-features.ts';
import { selectorMatches } from '#reconciler/policy/pool-selection/selector.ts';
import { NO_CANARIES } from '#reconciler/policy/rollout/canaries.ts';
import { windowsState } from '#reconciler/policy/windows/windows-state.ts';
import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';

export const OUTVOTED = 'the kubelets of more than half of its nodes refuse it, so the pool keeps what it has';
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

/** What the reconciler says of windows that never open; undefined for all others. */
export function closedForGood(
  { spec: { rollout } }: ValidPool,
  { cluster }: LoadedRepo,
  at: Millis,
): string | undefined {
  const { open, changesAt, because } = windowsState([cluster.windows, rollout.windows], at);
  return open || changesAt !== null || rollout.emergency !== undefined ? undefined : because;
}

/** What the reconciler says where a pool has no node that is a canary; undefined for all others. */
export function lackOfCanaries({ rollout }: ValidPool['spec'], members: readonly InventoryNode[]): string | undefined {
  const { selector } = rollout.canary ?? {};
  if (selector === undefined || members.length === 0) return undefined;
  return members.some(({ labels }) => selectorMatches(selector, labels)) ? undefined : NO_CANARIES;
}
