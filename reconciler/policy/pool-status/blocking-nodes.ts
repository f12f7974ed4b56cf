import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { HoldReason } from '../rollout/holds/hold.ts';
import { isInPlace, isUnavailable, type Member } from '../rollout/membership.ts';
import type { NodesPlan } from '../plan-nodes.ts';

/** Bounds of one pool, and those that nodes of all pools fill together. */
const OWN: ReadonlySet<HoldReason> = new Set(['budget', 'zone-budget']);
const SHARED: ReadonlySet<HoldReason> = new Set(['overall-budget', 'control-plane']);

/**
 * By pool, the names of unavailable nodes that fill `maxUnavailable` alone, so that the pool waits for them: nobody is being changed.
 * Pools that wait for anything else are left out. Pure.
 */
export function blockingNodes(
  { groups }: Pick<NodesPlan, 'groups'>,
  pools: ReadonlyMap<string, KubeletPoolStatus>,
): BlockingNodes {
  const members = groups.map(({ decisions }) => decisions.map(({ member }) => member));
  const found = new Map<string, readonly string[]>();
  for (const [index, { group, decisions }] of groups.entries()) {
    const name = group.pool?.name ?? '';
    if (pools.get(name)?.phase !== 'Waiting') continue;
    const holds = new Set(decisions.flatMap(({ verdict }) => (verdict.verdict === 'hold' ? [verdict.hold] : [])));
    const isShared = [...holds].some((hold) => SHARED.has(hold));
    if (!isShared && ![...holds].some((hold) => OWN.has(hold))) continue;
    const names = awayIn(isShared ? members.flat() : (members[index] ?? []));
    if (names.length > 0) found.set(name, names);
  }
  return found;
}

export type BlockingNodes = ReadonlyMap<string, readonly string[]>;

/** Nobody where one of them is in the middle of a change: its place becomes free by itself. */
const awayIn = (members: readonly Member[]): readonly string[] =>
  members.some(isInPlace)
    ? []
    : members.filter((member) => isUnavailable(member) && !member.joining).map(({ node }) => node.name);
