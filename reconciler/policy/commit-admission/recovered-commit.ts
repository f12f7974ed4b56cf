import type { CommitOid } from '../commit-snapshot.ts';
import type { Fleet } from '../fleet.ts';

/**
 * The commit that was in force, as the pools remember it: where the record of it is lost, the branch cannot be played back all the
 * same. Each pool names the commit that its config was rendered from, which is the same for all that had no errors.
 *
 * @returns null where no pool names any
 */
export function recoveredCommit({ pools }: Pick<Fleet, 'pools'>): CommitOid | null {
  const named = [...pools.values()].flatMap(({ status }) => {
    const commit = status?.commit;
    return commit !== undefined && /^[0-9a-f]{40}$/.test(commit) ? [commit] : [];
  });
  const counted = [...Map.groupBy(named, (commit) => commit)].map(([commit, all]) => [commit, all.length] as const);
  counted.sort(([a, many], [b, more]) => more - many || a.localeCompare(b));
  return counted[0]?.[0] ?? null;
}
