import type { ClusterConfig, LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import {
  massChangeOf,
  describeHowToRaise,
  describeMassChange,
} from '#reconciler/policy/commit-admission/mass-change.ts';
import { limitOf } from '#reconciler/policy/rollout/amount.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { poolFor } from '../class-of-node.ts';
import { heldByVersion } from './held-by-version.ts';
import { type PoolMembership, validPools } from './pool-membership.ts';
import type { Move } from './plan-moves.ts';
import { isSameConfig } from './same-config.ts';

/** What of the cluster's file keeps the reconciler from beginning anything, as `reconciler/policy/rollout/holds` has it. */
export function clusterHold({ suspend, unreadable }: ClusterConfig): string | undefined {
  if (suspend) return "the cluster's file says suspend: true";
  return unreadable === undefined
    ? undefined
    : `the cluster's file cannot be read, so no change starts until it is fixed: ${unreadable}`;
}

/** Of a file with errors the reconciler takes what is safest: that is not what anybody wrote. */
export const hasFileErrors = (repo: LoadedRepo, file: string): boolean =>
  repo.findings.some((finding) => finding.file === file && finding.severity === 'error');

/** The limits that the reconciler would hold the commit to. */
export function commitRefusal(
  base: LoadedRepo,
  { cluster, pools }: LoadedRepo,
  file: string,
  moves: readonly Move[],
  before: PoolMembership,
): string | undefined {
  if (pools.length === 0) return 'there is no pool in it: an empty repository never unassigns a fleet';
  const assigned = before.pool.size;
  const lost = moves.filter(({ from, to }) => from !== null && to === null).length;
  const isFirst = base.pools.length === 0;
  const own = limitOf(cluster.maxUnassign, assigned);
  const most = isFirst ? own : Math.min(own, limitOf(base.cluster.maxUnassign, assigned));
  return lost > most
    ? `it would send ${lost} of ${assigned} nodes back to their local config, and maxUnassign allows ${most}. ` +
        describeHowToRaise('maxUnassign', file)
    : undefined;
}

/** The guard against changing too much at once, as the reconciler would see it if every node ran what the base says. */
export function massRefusal(
  base: LoadedRepo,
  head: LoadedRepo,
  file: string,
  nodes: readonly InventoryNode[],
  before: PoolMembership,
  after: PoolMembership,
): string | undefined {
  const [old, now] = [validPools(base), validPools(head)];
  const isHeldByVersion = heldByVersion();
  const inPools = nodes.filter(({ name }) => after.pool.has(name));
  const changed = inPools.flatMap((node) => {
    const [from, pool] = [before.pool.get(node.name) ?? '', after.pool.get(node.name) ?? ''];
    const wanted = now.get(pool) ?? old.get(pool);
    const [had, gets] = [poolFor(old.get(from), node), poolFor(wanted, node)];
    const isHeld = wanted !== undefined && (gets === undefined || isHeldByVersion(node, gets));
    const isOther = had !== undefined && !isSameConfig(had, gets);
    return isOther && !isHeld ? [pool] : [];
  });
  const mass =
    massChangeOf(changed, inPools.length, base.cluster.maxChange) ??
    massChangeOf(changed, inPools.length, head.cluster.maxChange);
  return mass === undefined ? undefined : describeMassChange(mass, file);
}
