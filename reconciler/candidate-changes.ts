import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import type { GitSource } from './git/source-port.ts';
import type { CommitOid, Snapshot } from './policy/commit-snapshot.ts';
import type { LoadedRepo } from './policy/config-repo/loaded-repo.ts';
import type { Fleet } from './policy/fleet.ts';
import { type ChangedPool, changedPools } from './policy/following/changed-pools.ts';
import { MOST_CANDIDATES } from './policy/following/choose-commit.ts';

/** Reads a commit that is not to come into force. */
export type ReadEarlier = (snapshot: Snapshot, signal: AbortSignal) => LoadedRepo | Promise<LoadedRepo>;

/** What commits that are not in force would change for the nodes that there are. */
export interface CandidateChanges {
  /**
   * Reads the commit where that was not done in the last minutes. Rejects only where the signal aborts.
   *
   * @param isFresh whether what was read before does not do
   * @returns null where it cannot be read now, or nothing of the cluster was seen yet
   */
  of(commit: CommitOid, isFresh: boolean, signal: AbortSignal): Promise<readonly ChangedPool[] | null>;
}

/** What a commit changes depends on the nodes: for so long it counts as it was, which holds up and lets nothing through. */
const KEPT_MS: Millis = 5 * 60_000;
/** One that could not be read. */
const AGAIN_MS: Millis = 60_000;

interface Kept {
  readonly until: Millis;
  readonly pools: readonly ChangedPool[] | null;
}

export function createCandidateChanges(
  source: Pick<GitSource, 'earlier'>,
  load: ReadEarlier,
  fleet: () => Fleet | null,
  clock: Clock,
  log: Log,
): CandidateChanges {
  const kept = new Map<CommitOid, Kept>();
  const keep = (commit: CommitOid, pools: Kept['pools'], ms: Millis): Kept['pools'] => {
    setNewest(kept, commit, { until: clock.monotonic() + ms, pools }, MOST_CANDIDATES);
    return pools;
  };
  return {
    async of(commit, isFresh, signal) {
      const known = kept.get(commit);
      const lasts = known !== undefined && clock.monotonic() < known.until;
      if (lasts && (!isFresh || known.pools === null)) return known.pools;
      if (fleet() === null) return null;
      try {
        const snapshot = await source.earlier(commit, commit, signal);
        const repo = snapshot === null ? null : await load(snapshot, signal);
        const seen = fleet();
        if (repo === null || seen === null) return keep(commit, null, AGAIN_MS);
        return keep(commit, changedPools(repo.pools, seen), KEPT_MS);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ commit, because: reasonOf(error) }, 'what the commit would change cannot be read');
        return keep(commit, null, AGAIN_MS);
      }
    },
  };
}
