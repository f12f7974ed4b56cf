import type { KubeletNode, TurnRequest } from '#shared/contract/api/kubelet-node.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { Choice } from '../pool-selection/choose-pool.ts';
import { NO_CONFIG, type PayloadClass, targetWith, UNKNOWN_CLASS } from '../payload-classes.ts';
import type { Desired, DesiredPool } from '../desired.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import { kubeletNodeOf } from '../kubelet-node-of.ts';
import type { PoolProof } from '../proof/record.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { type Lifecycle, lifecycleOf } from './lifecycle.ts';
import { probationOf } from './trial-terms.ts';
import {
  assignmentOf,
  failedAt,
  inTransition,
  runsAlready,
  sameTarget,
  progressOf,
  takenBackAt,
  turnAskedBy,
  type NodeTarget,
} from './node-progress.ts';

/** A node with everything that a decision about it needs. */
export interface Member {
  readonly node: NodeView;
  readonly kubeletNode: KubeletNode | undefined;
  /** The config of its pool; null is its local config. */
  readonly target: NodeTarget;
  readonly lifecycle: Lifecycle;
  /** It runs the target already, whatever it was told: to tell it takes nobody's place. */
  readonly runsTarget: boolean;
  /** It was told the target, whatever came of it. */
  readonly isAssigned: boolean;
  /** When the config that it runs was promoted. */
  readonly promotedAt: Millis | undefined;
  /** When it took the target back, as its agent wrote it, silent since or not; undefined where it did not. */
  readonly failedAt: string | undefined;
  /** That failure was forgiven, so that it is told once more. */
  readonly forgive: boolean;
  /** The restart that it needs with the target that it was told already, and has yet to be granted; undefined for none. */
  readonly turnRequest: TurnRequest | undefined;
  /** Its class of machines; undefined where its pool computes nothing. */
  readonly payloadClass: PayloadClass | undefined;
  /**
   * Why it gets no config and keeps what it has: there is none for its class of machines, or its kubelet would refuse it. Absent where it
   * gets one.
   */
  readonly unrendered?: string;
  /** It is new and has never proved any config of ours: nobody depends on it yet, so it holds no place of nodes that serve. */
  readonly joining: boolean;
}

/** The nodes that share one budget: a pool's own and those that are on their way out of it. */
export interface Group {
  /** null for nodes that leave a pool which is not known any more. */
  readonly pool: DesiredPool | null;
  readonly members: readonly Member[];
  /** What its classes of machines have proven. Absent without a pool, and until it was worked out. */
  readonly proof?: PoolProof;
}

/** A node that nobody may touch now, and why. */
export interface SkippedNode {
  readonly node: NodeView;
  /** Which pool it would be in, or why nobody may say; `unknown` where it has a config of a pool that nobody knows now. */
  readonly choice: Exclude<Choice, { readonly choice: 'pool' | 'none' }> | { readonly choice: 'unknown' };
  /** Its kubelet is in the middle of a change that was begun before. */
  readonly changing: boolean;
}

export interface Membership {
  readonly groups: readonly Group[];
  readonly skipped: readonly SkippedNode[];
}

/** Sorts every node to the budget that a change of it is paid from. */
export function membershipOf(desired: Desired, fleet: Fleet, now: Millis): Membership {
  const homes = new Map<string | null, Home>([...desired.pools].map(([name, pool]) => [name, homeOf(pool)]));
  const untouchable: SkippedNode[] = [];
  for (const node of fleet.nodes.values()) {
    const choice = desired.choices.get(node.name) ?? { choice: 'none' };
    const kubeletNode = kubeletNodeOf(node, fleet);
    if (choice.choice !== 'pool' && choice.choice !== 'none') {
      untouchable.push({ node, choice, changing: inTransition(kubeletNode, now) });
      continue;
    }
    const home = choice.choice === 'pool' ? choice.pool : leaving(kubeletNode, desired, now);
    if (home === undefined) continue;
    if (isPoolUnknown(kubeletNode, home, desired)) {
      untouchable.push({ node, choice: { choice: 'unknown' }, changing: inTransition(kubeletNode, now) });
      continue;
    }
    const group = homes.get(home) ?? homeOf(null);
    if (group.pool === null) homes.set(null, group);
    const { pool, members, target, soakMs, probationMs } = group;
    const isIn = choice.choice === 'pool';
    const classes = isIn ? pool?.classes : undefined;
    const given = classes && (classes.byNode.get(node.name) ?? UNKNOWN_CLASS);
    const wanted = given === undefined ? (isIn ? target : null) : given.target;
    const member = memberOf(node, kubeletNode, wanted, soakMs, now, given, probationMs);
    const unfit = isIn && !member.isAssigned ? pool?.unfit?.get(node.name) : undefined;
    const unrendered = given?.config === null ? given.because : unfit;
    members.push(unrendered === undefined ? member : { ...member, unrendered });
  }
  return { groups: [...homes.values()], skipped: untouchable };
}

/** A group that is being filled, with what all of its nodes have in common. */
interface Home extends Group {
  readonly members: Member[];
  readonly target: NodeTarget;
  readonly soakMs: Millis;
  readonly probationMs: Millis | null;
}

const homeOf = (pool: DesiredPool | null): Home => ({
  pool,
  members: [],
  target: targetOf(pool),
  soakMs: soakOf(pool),
  probationMs: probationIn(pool),
});

/**
 * Whose budget pays for taking a node's config away: that of the pool it leaves, which stays written in its spec until it
 * runs its local config; undefined where nothing is to be taken away.
 */
function leaving(node: KubeletNode | undefined, desired: Desired, now: Millis): string | null | undefined {
  const pool = node?.spec?.pool;
  if (pool !== undefined) return desired.pools.has(pool) ? pool : null;
  const towardsLocal = progressOf(node, null, now);
  const isAway = towardsLocal === 'outdated' || towardsLocal === 'awaits-turn';
  const hasSomething = assignmentOf(node) !== null || inTransition(node, now) || isAway;
  return hasSomething ? null : undefined;
}

/**
 * Absence is not an order: where no commit was read yet, or says nothing usable about a node's pool, and the cluster does not know
 * that pool either (it was deleted, or restored from a backup without its status), nobody takes the node's config away.
 */
function isPoolUnknown(node: KubeletNode | undefined, home: string | null, desired: Desired): boolean {
  const pool = node?.spec?.pool;
  if (pool === undefined) return home === null && desired.commit === null;
  return !desired.pools.has(pool) && (desired.commit === null || desired.unusable.has(pool));
}

/** What one node of a pool is to run; null is its local config. */
export function targetFor(pool: DesiredPool | undefined | null, node: string): NodeTarget {
  if (pool?.classes === undefined || pool.config === null) return targetOf(pool);
  return targetWith(pool.classes.byNode.get(node)?.config?.sha256 ?? NO_CONFIG, pool.spec);
}

/** Name of the config source of what one node of a pool is to run; of a pool that is there. */
export const configNameFor = (pool: DesiredPool | null, node: string): string | undefined =>
  pool?.classes?.byNode.get(node)?.config?.name ?? pool?.config?.name;

/** What tells one rollout of a pool from another: what all of its nodes are to run, and the template where values are computed; null is their local config. */
export function targetOf(pool: DesiredPool | undefined | null): NodeTarget {
  if (pool === undefined || pool === null || pool.config === null) return null;
  return targetWith(pool.config.sha256, pool.spec);
}

/** How long a node holds its place after its config was promoted: on trial, or with a full probation in the budget. */
export function soakOf(pool: DesiredPool | null): Millis {
  return parseDuration(pool?.spec.rollout.soak ?? '0s') ?? 0;
}

/** After how long on trial a node of this pool gives its place back; null where it holds it to the end. */
export const probationIn = (pool: DesiredPool | null): Millis | null =>
  pool === null ? null : probationOf(pool.spec.rollout);

/**
 * Where a node stands towards a target.
 *
 * @param probationMs null where the node holds its place to the end of trial and soak
 */
export function memberOf(
  node: NodeView,
  kubeletNode: KubeletNode | undefined,
  target: NodeTarget,
  soakMs: Millis,
  now: Millis,
  payloadClass?: PayloadClass,
  probationMs: Millis | null = null,
): Member {
  const promotedAt = fromTimestamp(kubeletNode?.status?.promotedAt);
  const isRecent = target !== null && promotedAt !== undefined && now - promotedAt < soakMs;
  const wasTold = sameTarget(assignmentOf(kubeletNode), target);
  const lifecycle = lifecycleOf(node, kubeletNode, target, wasTold, isRecent, probationMs, now);
  const { shown, failed } = lifecycle;
  const wentSilent = shown === 'no-agent' && wasTold;
  return {
    node,
    kubeletNode,
    target,
    lifecycle,
    runsTarget: runsAlready(kubeletNode, target),
    isAssigned: target !== null && wasTold,
    promotedAt,
    failedAt: failed ? failedAt(kubeletNode, target) : wentSilent ? takenBackAt(kubeletNode, target) : undefined,
    forgive: false,
    turnRequest: shown === 'awaits-turn' ? turnAskedBy(kubeletNode) : undefined,
    joining: false,
    payloadClass,
  };
}

/** Was told the payload, whatever came of it, or refused it before it was. */
export const isOnTarget = ({ lifecycle, isAssigned }: Member): boolean => isAssigned || lifecycle.failed;

/** It belongs to the rollouts of its pool: there is a config for its machine, and its kubelet would not refuse it. */
export const isConfigurable = ({ target, unrendered }: Member): boolean => target !== null && unrendered === undefined;

/** It counts against the budget, for whatever reason. */
export const isUnavailable = ({ lifecycle, node }: Member): boolean =>
  lifecycle.takesPlace || !node.ready || node.cordoned || node.doubted === true;

/** It holds a place by its change. */
export const isInPlace = ({ lifecycle }: Member): boolean => lifecycle.inChange && lifecycle.takesPlace;
