import { FIRST_SEEN_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { selectorMatches } from '../assign/selector.ts';
import type { Desired } from '../desired.ts';
import type { Fleet, NodeView, Unselected } from '../fleet.ts';
import { isOwnedBy } from '../rollout/membership.ts';

/**
 * When the reconciler first saw what it decides by, on its own clock. Timestamps of other machines only identify what they stand on:
 * nobody knows how far those clocks are off. What has to outlast a restart is kept in annotations of the KubeletNode.
 */
export interface Sights {
  /** By the name of the Node. */
  readonly nodes: ReadonlyMap<string, NodeSight>;
}

export interface NodeSight {
  /** Of the Node: another Node of the same name is seen for the first time. */
  readonly uid: string;
  /** When the Node was first seen; 0 for one that was there before the first look at the cluster. */
  readonly firstSeen: Millis;
  /** Absent while a pool selects the node, or more than one, or it is opted out. */
  readonly unselected?: Unselected;
}

/**
 * The sights after one more look.
 *
 * @param before what was seen up to the last look of this process; null before its first one
 * @param now    the reconciler's own clock
 */
export function sightsOf(before: Sights | null, desired: Desired, fleet: Fleet, now: Millis): Sights {
  const wasSeenBefore = before !== null || fleet.kubeletNodes.size > 0;
  const nodes = new Map<string, NodeSight>();
  for (const node of fleet.nodes.values()) {
    const found = fleet.kubeletNodes.get(node.name);
    const kubeletNode = found !== undefined && isOwnedBy(found, node.uid) ? found : undefined;
    const known = before?.nodes.get(node.name);
    const last = known?.uid === node.uid ? known : undefined;
    const unselected = unselectedOf(node, kubeletNode, last, { desired, fleet, now });
    nodes.set(node.name, {
      uid: node.uid,
      firstSeen: last?.firstSeen ?? firstSeen(kubeletNode, before === null, wasSeenBefore, now),
      ...(unselected === undefined ? {} : { unselected }),
    });
  }
  return { nodes };
}

/** A Node without a KubeletNode joined since the reconciler looked last, unless it never looked before. */
function firstSeen(node: KubeletNode | undefined, isFirstLook: boolean, wasSeenBefore: boolean, now: Millis): Millis {
  const kept = keptTime(node, FIRST_SEEN_ANNOTATION, now);
  if (kept !== undefined) return kept;
  if (!isFirstLook) return now;
  return node === undefined && wasSeenBefore ? now : 0;
}

interface Look {
  readonly desired: Desired;
  readonly fleet: Fleet;
  readonly now: Millis;
}

function unselectedOf(
  node: NodeView,
  kubeletNode: KubeletNode | undefined,
  last: NodeSight | undefined,
  { desired, fleet, now }: Look,
): Unselected | undefined {
  if ((desired.choices.get(node.name)?.choice ?? 'none') !== 'none') return undefined;
  const since =
    last?.unselected?.since ??
    (last === undefined ? keptTime(kubeletNode, UNSELECTED_SINCE_ANNOTATION, now) : undefined);
  const byCommit = last?.unselected?.by === 'commit' || isByCommit(node, kubeletNode, desired, fleet);
  return { since: since ?? now, by: byCommit ? 'commit' : 'labels' };
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

/** A time that a reconciler wrote; one from the future counts as now. */
function keptTime(node: KubeletNode | undefined, annotation: string, now: Millis): Millis | undefined {
  const at = fromTimestamp(node?.metadata.annotations?.[annotation]);
  return at === undefined ? undefined : Math.min(at, now);
}

/** What was seen of nodes that are there and were left out of a look is not forgotten. */
export function withLeftOut(sights: Sights, before: Sights | null, { nodes }: Pick<Fleet, 'nodes'>): Sights {
  const left = [...(before?.nodes ?? [])].filter(([name]) => nodes.has(name) && !sights.nodes.has(name));
  return left.length === 0 ? sights : { nodes: new Map([...sights.nodes, ...left]) };
}

/** The fleet with what was seen of it: decisions count from these times. */
export function inOwnTime(fleet: Fleet, sights: Sights): Fleet {
  const nodes = new Map<string, NodeView>();
  for (const [name, node] of fleet.nodes) {
    const sight = sights.nodes.get(name);
    nodes.set(name, sight === undefined ? node : { ...node, ...seenOf(sight) });
  }
  return { ...fleet, nodes };
}

const seenOf = ({ firstSeen, unselected }: NodeSight): Pick<NodeView, 'firstSeen' | 'unselected'> => ({
  firstSeen,
  ...(unselected === undefined ? {} : { unselected }),
});
