import { firstFew } from '#shared/runtime/first-few.ts';
import type { FollowingChoice } from './choose-commit.ts';
import type { ApprovedPool, JudgedPools } from './counterparts.ts';
import type { ReleasedCommit } from './record.ts';

const MOST_POOLS = 3;
const MOST_PEOPLE = 2;

/** `gpu, batch by ada at 2026-11-21T12:00:00Z; cpu by bob at …`. */
export function sayApproved(approved: readonly ApprovedPool[]): string {
  const byPerson = Map.groupBy(approved, ({ by, at }) => `${by === '' ? 'somebody' : by} at ${at}`);
  return firstFew(
    [...byPerson].map(([person, pools]) => `${namesOf(pools)} by ${person}`),
    MOST_PEOPLE,
    '; ',
  );
}

/**
 * What a person let into force with this choice: past the followed clusters, or what these have not proven of it.
 *
 * @param released what a person released
 * @param judged   what the followed clusters have not proven of the choice; null where that is not asked for, or unknown
 * @returns null for nothing
 */
export function letThrough(
  { commit: oid, grounds }: FollowingChoice,
  released: ReleasedCommit | null,
  judged: JudgedPools | null,
): ReleasedCommit | null {
  if (oid === null) return null;
  const { waiting = [], approved = [] } = judged ?? {};
  const approval = `approved, though nobody had proven it: ${sayApproved(approved)}`;
  if (grounds === 'settled') return approved.length === 0 ? null : { oid, said: approval, isApproved: true };
  if (grounds !== 'released' || released === null) return null;
  const unproven = `nobody had proven what ${namesOf(waiting)} ${waiting.length === 1 ? 'gets' : 'get'}`;
  const said = [
    released.said,
    ...(waiting.length === 0 ? [] : [unproven]),
    ...(approved.length === 0 ? [] : [approval]),
  ];
  return { oid, said: said.join('; ') };
}

const namesOf = (pools: readonly { readonly pool: string }[]): string =>
  firstFew(
    pools.map(({ pool }) => pool),
    MOST_POOLS,
  );
