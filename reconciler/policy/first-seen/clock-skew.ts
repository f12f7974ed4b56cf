import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import type { NodeFirstSeen, LocalStamp } from './node-first-seen.ts';
import type { FirstSeenTimes } from './first-seen-times.ts';

/**
 * Replaces the times of another machine's clock by the reconciler's own: when it first saw what the other machine reported. A time that
 * only identifies something (`rejected.at`), or is compared with others of the same clock (`createdAt` of nodes), stays as it is.
 */
export function withoutClockSkew(fleet: Fleet, sights: FirstSeenTimes): Fleet {
  const kubeletNodes = new Map<string, KubeletNode>();
  for (const [name, node] of fleet.kubeletNodes) {
    const sight = sights.nodes.get(name);
    kubeletNodes.set(name, sight === undefined ? node : heard(node, sight));
  }
  const configSources = new Map(
    [...fleet.configSources].map(([name, source]) => {
      const createdAt = sights.sources.get(source.uid) ?? source.createdAt;
      return [name, { ...source, createdAt }] as const;
    }),
  );
  const lost = sights.lost === undefined ? {} : { lost: sights.lost };
  return { ...fleet, nodes: nodesWithoutClockSkew(fleet, sights), kubeletNodes, configSources, ...lost };
}

/** The same for Nodes alone: a command that looks once cannot know since when agents have been silent. */
export function nodesWithoutClockSkew({ nodes }: Pick<Fleet, 'nodes'>, sights: FirstSeenTimes): Fleet['nodes'] {
  const seen = new Map<string, NodeView>();
  for (const [name, node] of nodes) {
    const sight = sights.nodes.get(name);
    seen.set(name, sight === undefined ? node : { ...node, ...seenOf(node, sight) });
  }
  return seen;
}

function seenOf(
  { drainFailed }: NodeView,
  {
    firstSeen,
    assigned,
    told,
    readiness,
    unselected,
    poolChange,
    unableSince,
    drainFailed: failed,
    doubted,
  }: NodeFirstSeen,
): Partial<NodeView> {
  return {
    firstSeen,
    readySince: readiness.at,
    ...(assigned === undefined ? {} : { assignedSince: assigned }),
    ...(told === undefined ? {} : { toldSince: told.at }),
    ...(unselected === undefined ? {} : { unselected }),
    ...(poolChange === undefined ? {} : { poolChange }),
    ...(unableSince === undefined ? {} : { unableSince }),
    ...(doubted === undefined ? {} : { doubted: true }),
    ...(drainFailed === undefined || failed === undefined ? {} : { drainFailed: { ...drainFailed, at: failed.at } }),
  };
}

function heard(node: KubeletNode, { heartbeat, promotion }: NodeFirstSeen): KubeletNode {
  const { status } = node;
  if (status === undefined) return node;
  const own = {
    ...inOwnStamp('heartbeat', status.heartbeat, heartbeat),
    ...inOwnStamp('promotedAt', status.promotedAt, promotion),
  };
  return { ...node, status: { ...status, ...own } };
}

function inOwnStamp<K extends string>(
  key: K,
  stamp: string | null | undefined,
  seen: LocalStamp | undefined,
): { readonly [P in K]?: string } {
  const known = seen !== undefined && seen.stamp === stamp;
  return (known ? { [key]: seen.own } : {}) as { readonly [P in K]?: string };
}
