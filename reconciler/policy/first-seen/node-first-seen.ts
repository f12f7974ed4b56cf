import { identityText } from '#shared/contract/api/config-identity.ts';
import { FIRST_SEEN_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type KubeletNode, UNKNOWN_CONFIG } from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { selectorMatches } from '../pool-selection/selector.ts';
import type { Desired } from '../desired.ts';
import type { Fleet, LostNode, NodeView, PoolChange, Unselected } from '../fleet.ts';
import { absenceOf } from '../participation.ts';
import {
  activeConfigOf,
  assignmentOf,
  failedAt,
  hasProved,
  provenConfigOf,
  sameTarget,
} from '../rollout/node-progress.ts';
import { lastOrderOf } from '../rollout/next-order.ts';
import { storedTime } from './stored-time.ts';
import { type PoolChangeInput, poolChangeOf } from './pool-change.ts';

/** A timestamp of another machine, and when it was first seen. */
interface SeenStamp<T> {
  readonly stamp: T;
  readonly at: Millis;
}

/** The same of a timestamp that agents write, with the reconciler's own time in its place. */
export interface LocalStamp extends SeenStamp<string> {
  readonly own: string;
}

export interface NodeFirstSeen {
  /** Of the Node: another Node of the same name is seen for the first time. */
  readonly uid: string;
  /** When the Node was first seen; 0 for one that was there before the first look at the cluster. */
  readonly firstSeen: Millis;
  /** Since when it has had an assignment, whichever; absent without one. */
  readonly assigned?: Millis;
  /** Its present assignment. */
  readonly told?: SeenStamp<string>;
  /** Absent while a pool selects the node, or more than one, or it never takes part. */
  readonly unselected?: Unselected;
  /** Absent while its assignment is of the pool that it is in. */
  readonly poolChange?: PoolChange;
  /** Of its Ready condition, whatever that says. */
  readonly readiness: SeenStamp<string>;
  /** Of its agent; absent until there was one. */
  readonly heartbeat?: LocalStamp;
  readonly promotion?: LocalStamp;
  /** It was last seen with another config than that which it promoted, or on the way from or to one. */
  readonly isAway?: true;
  /** Of a drain that was given up. */
  readonly drainFailed?: SeenStamp<Millis>;
  /** It is not Ready, or its agent silent, with what this pool told it and it has yet to prove; absent while that is not so. */
  readonly down?: { readonly pool: string; readonly target: LostNode['target'] };
  /** The highest number of an order that its KubeletNode spoke of; absent for none. */
  readonly order?: number;
  /** The `heartbeat` of a status that may be from the past, until its agent writes another; absent for one that is believed. */
  readonly doubted?: SeenStamp<string>;
  /** Since when it could take part in no rollout, without a break (`participation.ts`). */
  readonly unableSince?: Millis;
}

/** What the whole look at the cluster says about one node. */
interface Look extends PoolChangeInput {
  /** A Node not seen before joined since the last look. */
  readonly joined: boolean;
  /** This process has only just begun to look, and nobody led for a while before: etcd may have been restored meanwhile. */
  readonly resumed?: boolean;
}

/**
 * What is seen of one node.
 *
 * @param kubeletNode of this very Node
 * @param last        what this process saw of this very Node before; undefined for nothing
 */
export function nodeFirstSeen(
  node: NodeView,
  kubeletNode: KubeletNode | undefined,
  last: NodeFirstSeen | undefined,
  look: Look,
): NodeFirstSeen {
  const { joined, now, ahead } = look;
  const { heartbeat, promotedAt } = kubeletNode?.status ?? {};
  const unselected = unselectedOf(node, kubeletNode, last, look);
  const moved = poolChangeOf(node, kubeletNode, last?.poolChange, last === undefined, look);
  const heartbeatSeen = stampSeen(heartbeat, last?.heartbeat, now);
  // A process that starts in the middle of a soak believes the node's own clock about how long it has lasted, and no other.
  const soaked = last === undefined ? apart(promotedAt, heartbeat) : 0;
  const isAway = isAwayFromProven(kubeletNode) ?? last?.isAway ?? false;
  const cameBack = last?.isAway === true && !isAway;
  // Soak is time served: what it spent on another config does not count.
  const promotion = stampSeen(promotedAt, cameBack ? undefined : last?.promotion, now - soaked) ?? last?.promotion;
  const ready = `${node.ready} ${node.readySince}`;
  const failed = node.drainFailed?.at;
  const isSilent = heartbeatSeen === undefined || now - heartbeatSeen.at > AGENT_SILENT_MS;
  const isUnable = absenceOf({ node, isSilent }, undefined) !== null;
  return {
    uid: node.uid,
    firstSeen: last?.firstSeen ?? storedTime(kubeletNode, FIRST_SEEN_ANNOTATION, { now, ahead }) ?? (joined ? now : 0),
    readiness:
      last?.readiness.stamp === ready
        ? last.readiness
        : { stamp: ready, at: now - (last === undefined ? (node.readyForMs ?? 0) : 0) },
    ...assignedSeen(kubeletNode, last, now),
    ...ordersSeen(kubeletNode, last, look),
    ...(unselected === undefined ? {} : { unselected }),
    ...(moved === undefined ? {} : { poolChange: moved }),
    ...(heartbeatSeen === undefined ? {} : { heartbeat: heartbeatSeen }),
    ...(promotion === undefined ? {} : { promotion }),
    ...(isAway ? { isAway } : {}),
    ...(isUnable ? { unableSince: last?.unableSince ?? now } : {}),
    ...(!node.ready || (heartbeatSeen !== undefined && isSilent) ? downWith(node, kubeletNode) : {}),
    ...(failed === undefined
      ? {}
      : { drainFailed: drainFailedSeen(failed, last?.drainFailed, now, last === undefined ? ahead : 0) }),
  };
}

function downWith(node: NodeView, kubeletNode: KubeletNode | undefined): Pick<NodeFirstSeen, 'down'> {
  const [pool, target] = [kubeletNode?.spec?.pool, assignmentOf(kubeletNode)];
  const isOpen = node.leaving === undefined && failedAt(kubeletNode, target) === undefined;
  if (pool === undefined || target === null || !isOpen || hasProved(kubeletNode, target)) return {};
  return { down: { pool, target } };
}

function assignedSeen(
  kubeletNode: KubeletNode | undefined,
  last: NodeFirstSeen | undefined,
  now: Millis,
): Pick<NodeFirstSeen, 'assigned' | 'told'> {
  const assignment = assignmentOf(kubeletNode);
  if (assignment === null) return {};
  const stamp = identityText(assignment);
  // A process that starts in the middle of a trial knows for how long it has lasted at least.
  const healthyMs = last === undefined ? (kubeletNode?.status?.trial?.healthySeconds ?? 0) * 1000 : 0;
  const told = last?.told?.stamp === stamp ? last.told : { stamp, at: now - healthyMs };
  return { assigned: last?.assigned ?? now, told };
}

/** An agent that lives is connected again within 45 seconds (`FOLLOW_BACKOFF`), and writes at once what a restored cluster says otherwise. */
const DOUBT_MS: Millis = 60_000;

/**
 * Numbers of orders only grow, unless the cluster goes back in time. Its agents say within seconds how their nodes really are: until then,
 * nobody knows who is in the middle of a change.
 */
function ordersSeen(
  kubeletNode: KubeletNode | undefined,
  last: NodeFirstSeen | undefined,
  { resumed, now }: Pick<Look, 'resumed' | 'now'>,
): Pick<NodeFirstSeen, 'order' | 'doubted'> {
  const stamp = kubeletNode?.status?.heartbeat;
  const order = lastOrderOf(kubeletNode);
  const isBack = resumed === true || (kubeletNode !== undefined && order < (last?.order ?? 0));
  const known = last?.doubted?.stamp === stamp ? last?.doubted : undefined;
  const doubted = isBack && stamp !== undefined ? { stamp, at: now } : known;
  return {
    ...(order === 0 ? {} : { order }),
    ...(doubted === undefined || now - doubted.at > DOUBT_MS ? {} : { doubted }),
  };
}

/** A stamp that is missing or unreadable for a while changes nothing: it may come back as it was. */
function stampSeen(
  stamp: string | null | undefined,
  last: LocalStamp | undefined,
  first: Millis,
): LocalStamp | undefined {
  if (typeof stamp !== 'string' || stamp === last?.stamp || fromTimestamp(stamp) === undefined) return last;
  const at = Math.max(0, first);
  // With milliseconds, so that nothing ends a second early.
  return { stamp, at, own: new Date(at).toISOString() };
}

/** A trial of what it promoted already does not count. undefined where the agent does not say what it runs. */
function isAwayFromProven(node: KubeletNode | undefined): boolean | undefined {
  const { phase, trial, active, lastKnownGood } = node?.status ?? {};
  if (active === undefined || active.name === UNKNOWN_CONFIG) return undefined;
  const triesOther = phase === 'Trial' && trial?.config !== lastKnownGood?.name;
  return triesOther || phase === 'FallingBack' || !sameTarget(activeConfigOf(node), provenConfigOf(node));
}

/** How long after one event another one was, by the clock that both were written by; never too long. */
function apart(earlier: string | null | undefined, later: string | undefined): Millis {
  const [from, to] = [fromTimestamp(earlier), fromTimestamp(later)];
  return from === undefined || to === undefined ? 0 : Math.max(0, to - from - LESS_THAN_A_SECOND);
}

/** Timestamps have whole seconds. */
const LESS_THAN_A_SECOND: Millis = 999;

/** A reconciler wrote it, so that it counts as it is, unless it lies ahead. */
const drainFailedSeen = (
  stamp: Millis,
  last: SeenStamp<Millis> | undefined,
  now: Millis,
  ahead: Millis,
): SeenStamp<Millis> => (last?.stamp === stamp ? last : { stamp, at: Math.min(stamp + ahead, now) });

function unselectedOf(
  node: NodeView,
  kubeletNode: KubeletNode | undefined,
  last: NodeFirstSeen | undefined,
  { desired, fleet, now, ahead }: Look,
): Unselected | undefined {
  if ((desired.choices.get(node.name)?.choice ?? 'none') !== 'none') return undefined;
  const kept = last === undefined ? storedTime(kubeletNode, UNSELECTED_SINCE_ANNOTATION, { now, ahead }) : undefined;
  const byCommit = last?.unselected?.by === 'commit' || isByCommit(node, kubeletNode, desired, fleet);
  return { since: last?.unselected?.since ?? kept ?? now, by: byCommit ? 'commit' : 'labels' };
}

/** The pool left git, or it does not select the labels any more that it selected until now. */
function isByCommit(
  { labels }: NodeView,
  kubeletNode: KubeletNode | undefined,
  desired: Desired,
  fleet: Fleet,
): boolean {
  const name = kubeletNode?.spec?.pool;
  if (name === undefined) return false;
  const pool = desired.pools.get(name);
  if (pool === undefined || pool.origin === 'retiring') return true;
  const until = fleet.pools.get(name)?.spec?.nodeSelector;
  return until !== undefined && selectorMatches(until, labels);
}
