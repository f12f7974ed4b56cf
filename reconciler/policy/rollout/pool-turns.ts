import { type Group, isInPlace } from './membership.ts';

/**
 * The order in which pools take the places that they share: those that hold the fewest first, and of these the one that has not had one
 * for longest. A pool whose nodes are drained in vain has had its turn as well as one that goes on.
 */
export function inTurn<T extends { readonly group: Group }>(pools: readonly T[]): readonly T[] {
  const seen = new Map(pools.map((pool) => [pool, turnOf(pool.group)]));
  const of = (pool: T): Turn => seen.get(pool) ?? { held: 0, last: 0 };
  return pools.toSorted((a, b) => of(a).held - of(b).held || of(a).last - of(b).last);
}

interface Turn {
  readonly held: number;
  /** When one of its nodes had a place last, as far as that can be seen. */
  readonly last: number;
}

function turnOf({ members }: Group): Turn {
  let [held, last] = [0, 0];
  for (const member of members) {
    const { drain, drainFailed } = member.node;
    if (isInPlace(member) || drain !== undefined) held += 1;
    last = Math.max(last, drain?.at ?? 0, drainFailed?.at ?? 0, member.promotedAt ?? 0);
  }
  return { held, last };
}
