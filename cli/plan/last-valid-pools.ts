import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedPool, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { LocalRepository } from '../revision/local-repository.ts';
import { readRevision } from '../revision/read-revision.ts';

/** What a pool with errors keeps: what it said when it had none. */
interface LastValidPool {
  readonly pool: ValidPool;
  /** The newest commit in which it was valid. */
  readonly commit: string;
}

/** As far as an error is likely to stand unmended; every step back reads and judges the whole repository. */
const MOST_COMMITS = 20;

/**
 * Looks back along the first parents for what the pools with errors said before. A pool that was never valid, or longer ago,
 * is not among them; neither is anything beyond the end of a shallow clone.
 */
export async function lastValidPools(
  repository: LocalRepository,
  start: Commit | null,
  pools: readonly LoadedPool[],
  { cluster, folder }: { readonly cluster: string; readonly folder: string },
): Promise<ReadonlyMap<string, LastValidPool>> {
  let missing = new Set(pools.flatMap(({ name, status }) => (status === 'invalid' ? [name] : [])));
  const kept = new Map<string, LastValidPool>();
  let parent = start?.parents[0];
  for (let steps = 0; steps < MOST_COMMITS && missing.size > 0 && parent !== undefined; steps += 1) {
    const revision = await readRevision(repository, parent, folder).catch(() => undefined);
    if (revision === undefined) break;
    const there = loadRepo(revision.files, { cluster, gitFindings: revision.findings, folder }).pools;
    for (const pool of there) {
      if (pool.status === 'valid' && missing.has(pool.name)) kept.set(pool.name, { pool, commit: parent });
    }
    missing = new Set(there.flatMap(({ name }) => (missing.has(name) && !kept.has(name) ? [name] : [])));
    parent = revision.commit?.parents[0];
  }
  return kept;
}
