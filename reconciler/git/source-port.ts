import type { CommitOid, Snapshot } from '../policy/commit-snapshot.ts';

/** The config repo as the reconciler reads it. Every call ends within its timeout; errors are `GitError`s. */
export interface GitSource {
  /** The commit that the branch points at now, for at most 1 KB on the wire. */
  resolve(signal: AbortSignal): Promise<CommitOid>;
  /**
   * The tree of the branch's tip, read without a working copy.
   *
   * @param since the commit that was last taken up, or null; decides `lineage`
   */
  snapshot(since: CommitOid | null, signal: AbortSignal): Promise<Snapshot>;
  /** The repository's address without credentials, for logs and status. */
  readonly url: string;
  readonly branch: string;
}
