import type { Millis } from '#shared/runtime/clock.ts';
import type { Desired } from '../desired.ts';
import { type Choice, createPoolChooser } from '../pool-selection/choose-pool.ts';
import type { Fleet, LostNode } from '../fleet.ts';
import { isOwnedBy } from '../kubelet-node-of.ts';
import type { Selectable } from '../participation.ts';
import { type NodeFirstSeen, nodeFirstSeen } from './node-first-seen.ts';

/**
 * When the reconciler first saw what it decides by, on its own clock. Timestamps of other machines only say whether something changed,
 * and how far apart two events on the same machine are: how far those clocks are off is unknown.
 */
export interface FirstSeenTimes {
  /** By the name of the Node. */
  readonly nodes: ReadonlyMap<string, NodeFirstSeen>;
  /** See `Fleet`. */
  readonly lost?: ReadonlyMap<string, readonly LostNode[]>;
  /** By the uid of a config source, since when it has been there at least. */
  readonly sources: ReadonlyMap<string, Millis>;
}

/**
 * The sights after one more look.
 *
 * @param before what was seen up to the last look of this process; null before its first one
 * @param now    the reconciler's own clock
 * @param ahead  see `LocalTime`
 */
export function firstSeenTimes(
  before: FirstSeenTimes | null,
  desired: Desired,
  fleet: Fleet,
  now: Millis,
  ahead: Millis = 0,
): FirstSeenTimes {
  const isInstalled = fleet.kubeletNodes.size > 0;
  const resumed = before === null && ahead > 0;
  const nodes = new Map<string, NodeFirstSeen>();
  const poolUntilNow = poolsUntilNow(fleet);
  for (const node of fleet.nodes.values()) {
    const found = fleet.kubeletNodes.get(node.name);
    const kubeletNode = found !== undefined && isOwnedBy(found, node.uid) ? found : undefined;
    const known = before?.nodes.get(node.name);
    const last = known?.uid === node.uid ? known : undefined;
    const joined = before !== null || (kubeletNode === undefined && isInstalled);
    nodes.set(
      node.name,
      nodeFirstSeen(node, kubeletNode, last, { joined, resumed, desired, fleet, poolUntilNow, now, ahead }),
    );
  }
  const lost = lostSince(before, desired, fleet);
  return { nodes, sources: sourcesSeen(before, fleet, now), ...(lost.size > 0 && { lost }) };
}

/** Of each pool, so many nodes are remembered, until it gets another config. */
const MOST_LOST = 100;

function lostSince(
  before: FirstSeenTimes | null,
  { pools }: Desired,
  { nodes, unreadable = [] }: Fleet,
): FirstSeenTimes['lost'] & {} {
  const lost = new Map<string, readonly LostNode[]>();
  const note = (pool: string, gone: readonly LostNode[]): void => {
    const { config, classes } = pools.get(pool) ?? {};
    const wanted = gone.filter(({ target: { sha256 } }) => config?.sha256 === sha256 || classes?.configs.has(sha256));
    if (wanted.length > 0) lost.set(pool, [...(lost.get(pool) ?? []), ...wanted].slice(-MOST_LOST));
  };
  for (const [pool, gone] of before?.lost ?? []) note(pool, gone);
  const hidden = new Set(unreadable.map(({ name }) => name));
  for (const [name, { uid, down }] of before?.nodes ?? []) {
    if (down === undefined || nodes.get(name)?.uid === uid || hidden.has(name)) continue;
    note(down.pool, [{ name, target: down.target }]);
  }
  return lost;
}

/** Which pool a node would be in by what the cluster has of the pools; computed on demand. */
function poolsUntilNow({ pools }: Fleet): (node: Selectable) => Choice {
  let choose: ((node: Selectable) => Choice) | undefined;
  return (node) => {
    choose ??= createPoolChooser(
      [...pools.values()].flatMap(({ metadata, spec }) =>
        spec === undefined ? [] : [{ name: metadata.name, priority: spec.priority, nodeSelector: spec.nodeSelector }],
      ),
    );
    return choose(node);
  };
}

/** A config source is older than the newest object by as much as the API server says: its clock is compared with itself. */
function sourcesSeen(before: FirstSeenTimes | null, fleet: Fleet, now: Millis): FirstSeenTimes['sources'] {
  let newest = 0;
  for (const { createdAt } of fleet.nodes.values()) newest = Math.max(newest, createdAt);
  for (const { createdAt } of fleet.configSources.values()) newest = Math.max(newest, createdAt);
  const seen = [...fleet.configSources.values()].map(
    ({ uid, createdAt }) => [uid, before?.sources.get(uid) ?? now - (newest - createdAt)] as const,
  );
  return new Map(seen);
}

/** What was seen of nodes that are there and were left out of a look is not forgotten. */
export function withUnreadableNodes(
  sights: FirstSeenTimes,
  before: FirstSeenTimes | null,
  { nodes }: Pick<Fleet, 'nodes'>,
): FirstSeenTimes {
  const left = [...(before?.nodes ?? [])].filter(([name]) => nodes.has(name) && !sights.nodes.has(name));
  return left.length === 0 ? sights : { ...sights, nodes: new Map([...sights.nodes, ...left]) };
}
