import { isDeepStrictEqual } from 'node:util';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { viewKubeletPool } from '../views.ts';

/**
 * Lets the reconciler see what it wrote into pools before its watch does: their statuses are what it remembers, and from an old one it
 * would write another hour at which a wave was done, and a note that says so.
 */
export interface WrittenPools {
  /** A KubeletPool as the API server answered a write with. */
  wrote(pool: KubeletPool): void;
  /**
   * The watched picture, with what was written laid over it until the watch has caught up. What it does not show is not there.
   *
   * @param listedAtMs monotonic time at which the last list was asked for: what was written before is in it, or undone
   */
  over(watched: ReadonlyMap<string, KubeletPool>, listedAtMs: Millis): ReadonlyMap<string, KubeletPool>;
}

/** Nobody else writes statuses, but a watch that went past our write without our looking would never be believed again. */
const BELIEVED_MS: Millis = 60_000;

export function createWrittenPools(clock: Clock): WrittenPools {
  const ahead = new Map<string, { readonly pool: KubeletPool; readonly at: Millis }>();
  return {
    wrote(pool) {
      ahead.set(pool.metadata.name, { pool: viewKubeletPool(pool), at: clock.monotonic() });
    },
    over(watched, listedAtMs) {
      if (ahead.size === 0) return watched;
      const now = clock.monotonic();
      const over = new Map(watched);
      for (const [name, { pool, at }] of ahead) {
        const seen = watched.get(name);
        const isLate = now - at > BELIEVED_MS || at < listedAtMs;
        if (isLate || seen === undefined || hasCaughtUp(seen, pool)) ahead.delete(name);
        else over.set(name, pool);
      }
      return over;
    },
  };
}

/** Generations count changes of the spec alone, and resourceVersions may only be held to be equal or not. */
function hasCaughtUp(watched: KubeletPool, written: KubeletPool): boolean {
  if (watched.metadata.uid !== written.metadata.uid) return true;
  if (watched.metadata.resourceVersion === written.metadata.resourceVersion) return true;
  const isAsNew = (watched.metadata.generation ?? 0) >= (written.metadata.generation ?? 0);
  return isAsNew && isDeepStrictEqual(watched.status, written.status);
}
