import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { NO_CONFIG } from '../payload-classes.ts';
import { type Desired, poolIn } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import type { ClusterConfig } from '../config-repo/loaded-repo.ts';
import { CLUSTER_FILE, DEFAULT_MAX_CHANGE } from '../config-repo/read-cluster.ts';
import { limitOf } from '../rollout/amount.ts';
import { targetFor } from '../rollout/membership.ts';
import { activeConfigOf, assignmentOf, sameTarget, type NodeTarget } from '../rollout/node-progress.ts';

/** What a commit would change at once, against what the cluster's file allows in the commit before. */
interface MassChange {
  /** Nodes that would get another config in place of one that they have. */
  readonly changed: number;
  /** Of how many nodes in pools. */
  readonly total: number;
  readonly allowed: number;
  /** Names of pools and how many of their nodes are among them, the largest first. */
  readonly pools: readonly (readonly [pool: string, nodes: number])[];
}

const MOST_POOLS = 3;

/**
 * @param before what the cluster has of the pools
 * @returns undefined where the commit keeps within `maxChange`. A node counts if its pool's config becomes another one, or it
 *   moves to a pool with another, and it does not have that already. A first config does not count, nor does one that the node's kubelet would refuse.
 */
export function massChange(
  before: Desired,
  desired: Desired,
  maxChange: ClusterConfig['maxChange'],
  fleet: Fleet,
): MassChange | undefined {
  const inPools = [...fleet.nodes.keys()].flatMap((node) => {
    const pool = poolIn(desired.choices.get(node));
    return pool === undefined ? [] : [{ node, pool }];
  });
  const changed = inPools.filter(({ node, pool }) => {
    if (desired.pools.get(pool)?.unfit?.has(node) === true) return false;
    const [had, gets] = [targetIn(before, node), targetIn(desired, node)];
    const has = configOf(fleet.kubeletNodes.get(node));
    return has !== null && gets?.sha256 !== NO_CONFIG && !sameTarget(had, gets) && !sameTarget(has, gets);
  });
  const pools = changed.map(({ pool }) => pool);
  return massChangeOf(pools, inPools.length, maxChange);
}

/**
 * @param changed the pool of each node that gets another config
 * @param total   nodes in pools
 */
export function massChangeOf(
  changed: readonly string[],
  total: number,
  maxChange: ClusterConfig['maxChange'],
): MassChange | undefined {
  const allowed = limitOf(maxChange ?? DEFAULT_MAX_CHANGE, total);
  if (changed.length <= allowed) return undefined;
  const byPool = new Map<string, number>();
  for (const pool of changed) byPool.set(pool, (byPool.get(pool) ?? 0) + 1);
  // Where one pool has all the nodes, every change of it is one of all nodes.
  if (maxChange === null && byPool.size === 1) return undefined;
  const pools = [...byPool].sort(([a, many], [b, more]) => more - many || a.localeCompare(b));
  return { changed: changed.length, total, allowed, pools };
}

/**
 * The refusal in words; the same in CI and in the reconciler.
 *
 * @param file of the cluster
 */
export function describeMassChange({ changed, total, allowed, pools }: MassChange, file = CLUSTER_FILE): string {
  const named = pools.map(([pool, nodes]) => `${pool} ${nodes}`);
  return (
    `it would give ${changed} of ${total} nodes in pools another config (${firstFew(named, MOST_POOLS)}), ` +
    `and maxChange allows ${allowed}. ${describeHowToRaise('maxChange', file)}`
  );
}

/** A commit that raises a limit and goes beyond the old one at once would have none. @param file of the cluster */
export const describeHowToRaise = (limit: 'maxChange' | 'maxUnassign', file = CLUSTER_FILE): string =>
  `To allow it: merge a commit that raises spec.${limit} in ${file} first, and this one once that is in force. Where this one is merged already, revert it before`;

/** A node's assignment; what it runs, if the assignment was lost and is about to be written again. */
function configOf(node: KubeletNode | undefined): NodeTarget {
  return assignmentOf(node) ?? activeConfigOf(node);
}

/** The config of a node's pool as an agent would be assigned it; null where there is none. */
const targetIn = ({ choices, pools }: Desired, node: string): NodeTarget =>
  targetFor(pools.get(poolIn(choices.get(node)) ?? ''), node);
