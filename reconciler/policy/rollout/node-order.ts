import type { Millis } from '#shared/runtime/clock.ts';
import type { NodeView } from '../fleet.ts';
import { isYoung } from './new-node.ts';
import { isInPlace, type Member } from './membership.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Zone of a node; '' where its label is missing. */
export function zoneOf({ node }: Pick<Member, 'node'>): string {
  return node.labels[ZONE_LABEL] ?? '';
}

/**
 * The order in which nodes are changed: those that are in the middle of a change or being drained first, because they cost nobody else's
 * place; then those that are Ready, those that an autoscaler may remove, those that were drained in vain, and those that are not Ready, so
 * that canaries are nodes that can prove something. Among each of them zone by zone, the oldest first, and by name where that is the
 * same. Stable from pass to pass.
 *
 * @param first who would be a canary: of these, those come first that will be there for longest and have shown that they work, which
 *   are nearest to the median age of their zone and class. The oldest are the next to go where nodes live for a fixed time.
 */
export function inChangeOrder<T extends { readonly member: Member }>(
  things: readonly T[],
  now: Millis,
  first: (member: Member) => boolean = () => false,
): readonly T[] {
  const turns = Map.groupBy(things, ({ member }) => turnOf(member));
  return TURNS.flatMap((turn) => {
    const those = turns.get(turn) ?? [];
    return byZone(
      those,
      turn === 'ready' ? canaryOrder([...(turns.get('begun') ?? []), ...those], now, first) : undefined,
    );
  });
}

const TURNS = ['begun', 'ready', 'candidate', 'inVain', 'notReady'] as const;

function turnOf(member: Member): (typeof TURNS)[number] {
  const { drain, drainFailed, ready, deletionCandidate } = member.node;
  if (isInPlace(member) || drain !== undefined) return 'begun';
  if (!ready) return 'notReady';
  if (drainFailed !== undefined) return 'inVain';
  return deletionCandidate === true ? 'candidate' : 'ready';
}

function byZone<T extends { readonly member: Member }>(
  things: readonly T[],
  rank: (member: Member) => number = () => 0,
): readonly T[] {
  const zones = Map.groupBy(things, ({ member }) => zoneOf(member));
  const inTurn = [...zones].sort(([a], [b]) => compare(a, b));
  return inTurn.flatMap(([, zone]) =>
    zone.sort((a, b) => rank(a.member) - rank(b.member) || byAge(a.member.node, b.member.node)),
  );
}

/** Nodes that are made together are of one age. */
const SAME_AGE_MS: Millis = 60_000;

/** How far a node is from the median age; behind the others where it is new, and before them where it is no canary. */
function canaryOrder(
  things: readonly { readonly member: Member }[],
  now: Millis,
  first: (member: Member) => boolean,
): (member: Member) => number {
  // Those that have begun as well: the median is to stay where it is while canaries begin one after another.
  const sought = things.flatMap(({ member }) => (member.node.ready && first(member) ? [member] : []));
  const ranks = new Map<Member, number>();
  for (const like of Map.groupBy(sought, (member) => `${zoneOf(member)} ${member.payloadClass?.name ?? ''}`).values()) {
    const old = like.filter(({ node }) => !isYoung(node, now)).map(({ node }) => node.createdAt);
    const middle = old.sort((a, b) => a - b)[Math.floor(old.length / 2)] ?? 0;
    for (const member of like) {
      const apart = Math.floor(Math.abs(member.node.createdAt - middle) / SAME_AGE_MS);
      ranks.set(member, isYoung(member.node, now) ? Infinity : apart);
    }
  }
  return (member) => ranks.get(member) ?? 0;
}

const byAge = (a: NodeView, b: NodeView): number => a.createdAt - b.createdAt || compare(a.name, b.name);

/** No two nodes have one name, nor two groups one zone. */
const compare = (a: string, b: string): number => (a < b ? -1 : 1);
