import { type Group, isInPlace } from './membership.ts';
import { canBeChanged } from './readiness.ts';

/**
 * The order in which pools take the places that they share: those that hold the fewest first, and of these the one that has not had one
 * for longest. A pool whose nodes are drained in vain has had its turn as well as one that goes on, and comes last while it has no others
 * to change.
 */
export function inTurn<T extends { readonly group: Group }>(pools: readonly T[]): readonly T[] {
  const seen = new Map(pools.map((pool) => [pool, turnOf(pool.group)]));
  const of = (pool: T): Turn => seen.get(pool) ?? { late: 0, held: 0, last: 0 };
  return pools.toSorted((a, b) => of(a).late - of(b).late || of(a).held - of(b).held || of(a).last - of(b).last);
}

interface Turn {
  /** 1 where all that it could change were drained in vain. */
  readonly late: 0 | 1;
  readonly held: number;
  /** When one of its nodes had a place last, as far as that can be seen. */
  readonly last: number;
}

function turnOf({ pool, members }: Group): Turn {
  let [held, last, others, inVain] = [0, 0, 0, 0];
  for (const member of members) {
    const { drain, drainFailed } = member.node;
    if (isInPlace(member) || drain !== undefined) held += 1;
    const waits = member.lifecycle.mayBeTold && canBeChanged(member, pool?.spec.rollout);
    if (waits && drainFailed === undefined) others += 1;
    if (waits && drainFailed !== undefined) inVain += 1;
    last = Math.max(last, drain?.at ?? 0, drainFailed?.at ?? 0, member.promotedAt ?? 0);
  }
  return { late: inVain > 0 && others === 0 ? 1 : 0, held, last };
}
