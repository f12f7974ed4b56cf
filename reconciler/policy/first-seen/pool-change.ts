import { CLASS_LABELS_ANNOTATION, MOVED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Selectable } from '../participation.ts';
import type { Choice } from '../pool-selection/choose-pool.ts';
import { changedLabels, labelsAsked } from '../class-labels.ts';
import { NO_CONFIG } from '../payload-classes.ts';
import type { Desired, DesiredPool } from '../desired.ts';
import type { Fleet, PoolChange, NodeView } from '../fleet.ts';
import { targetFor } from '../rollout/membership.ts';
import { assignmentOf, sameTarget } from '../rollout/node-progress.ts';
import { storedTime } from './stored-time.ts';

/** What it takes to say why a node belongs to another pool than the one that assigned its config. */
export interface PoolChangeInput {
  readonly desired: Desired;
  readonly fleet: Fleet;
  /** The pool of such a node as the cluster's KubeletPools have it, which is before the commit in force changed them. */
  readonly poolUntilNow: (node: Selectable) => Choice;
  readonly now: Millis;
  /** See `LocalTime`. */
  readonly ahead: Millis;
}

/**
 * Whether a node has yet to move to another pool, and whether a commit sends it there or its labels alone; or to another class of its
 * own pool by its labels.
 *
 * @param last what this process saw before; undefined for nothing
 * @param isFirst this process has not seen the node before
 */
export function poolChangeOf(
  node: NodeView,
  kubeletNode: KubeletNode | undefined,
  last: PoolChange | undefined,
  isFirst: boolean,
  { desired, fleet, poolUntilNow, now, ahead }: PoolChangeInput,
): PoolChange | undefined {
  const choice = desired.choices.get(node.name);
  const from = kubeletNode?.spec?.pool;
  if (choice?.choice !== 'pool' || from === undefined) return undefined;
  const to = choice.pool;
  const kept = isFirst ? storedTime(kubeletNode, MOVED_SINCE_ANNOTATION, { now, ahead }) : undefined;
  const known = last?.to === to ? last : undefined;
  const since = known?.since ?? kept ?? now;
  if (from === to)
    return isReclassed(node, kubeletNode, desired.pools.get(to)) ? { to, since, by: 'labels' } : undefined;
  const origin = desired.pools.get(from)?.origin ?? 'retiring';
  const before = poolUntilNow(node);
  const isByCommit = origin === 'retiring' || before.choice !== 'pool' || before.pool !== to;
  if (isByCommit || known?.by === 'commit') return { to, since, by: 'commit' };
  // A process that begins in the middle of a move by a commit must not stop it: then the pool has not settled yet.
  const isUnknown = isFirst && kept === undefined && !hasSettled(to, desired, fleet);
  return { to, since, by: isUnknown ? 'commit' : 'labels' };
}

/** Whether a node that stays in its pool would get another config because a label that an expression names changed. */
function isReclassed(node: NodeView, kubeletNode: KubeletNode | undefined, pool: DesiredPool | undefined): boolean {
  const kept = kubeletNode?.metadata.annotations?.[CLASS_LABELS_ANNOTATION];
  if (kept === undefined || changedLabels(kept, labelsAsked(pool), node.labels).length === 0) return false;
  const [has, gets] = [assignmentOf(kubeletNode), targetFor(pool, node.name)];
  return has !== null && gets?.sha256 !== NO_CONFIG && !sameTarget(has, gets);
}

/** Whether the pool was through with the commit in force at the last look. */
function hasSettled(name: string, desired: Desired, fleet: Fleet): boolean {
  const status = fleet.pools.get(name)?.status;
  const isThrough = status?.phase === 'Settled' || status?.phase === 'Empty';
  return isThrough && (status.commit ?? null) === (desired.pools.get(name)?.commit ?? null);
}
