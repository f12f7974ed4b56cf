import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { AcceptedCommitsOptions, UnreadCommit } from '../policy/commit-admission/accepted-commits.ts';
import type { Snapshot } from '../policy/commit-snapshot.ts';
import type { LoadedPool, LoadedRepo, PoolBounds } from '../policy/config-repo/loaded-repo.ts';
import type { ReadCommit } from './commit-reader.ts';

/** Reads the newest commit beside the passes: they go on with the commit in force until it is read. */
export interface CommitReadings {
  /** What was read of a commit; null while it is not read, and then it is to be. */
  readonly load: AcceptedCommitsOptions['load'];
  /** Begins to read what `load` was asked for last; what was asked for before is given up. */
  start(signal: AbortSignal): void;
}

interface CommitReadingsPorts {
  readonly read: ReadCommit;
  /** Judges a pool for the fleet as it is now, and remembers the verdict: a pass asks for all pools in one go. */
  readonly judge: (pool: LoadedPool) => Iterable<unknown>;
  readonly onRead: () => void;
  readonly log: Log;
}

interface Request {
  readonly key: string;
  readonly snapshot: Snapshot;
  readonly boundsBefore: PoolBounds | undefined;
}

export function createCommitReadings({ read, judge, onRead, log }: CommitReadingsPorts): CommitReadings {
  let asked: Request | null = null;
  let begun: { readonly key: string; readonly stop: AbortController } | null = null;
  let done: { readonly key: string; readonly result: LoadedRepo | UnreadCommit } | null = null;

  async function run({ key, snapshot, boundsBefore }: Request, signal: AbortSignal): Promise<void> {
    let result: LoadedRepo | UnreadCommit;
    try {
      const repo = await read(snapshot, signal, boundsBefore);
      for (const pool of repo.pools) for (const _ of judge(pool)) await nextTurn();
      result = repo;
    } catch (err) {
      if (signal.aborted) return;
      log.warn({ commit: snapshot.commit.oid, err }, 'commit cannot be read');
      result = { unread: reasonOf(err) };
    }
    if (signal.aborted) return;
    done = { key, result };
    onRead();
  }

  return {
    load(snapshot, boundsBefore) {
      const key = JSON.stringify([snapshot.commit.oid, boundsBefore]);
      if (done?.key === key) return done.result;
      asked = { key, snapshot, boundsBefore };
      return null;
    },
    start(signal) {
      if (asked === null || asked.key === begun?.key) return;
      begun?.stop.abort();
      const stop = new AbortController();
      begun = { key: asked.key, stop };
      done = null;
      void run(asked, AbortSignal.any([signal, stop.signal]));
    },
  };
}
