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
  /**
   * The same of an earlier commit, with the lineage `same`: the one in force, or one that this comes from. null where that
   * is not so or too much lies in between to tell, where the server does not serve it, and where it lacks the folder that is followed.
   * Reading it changes nothing of what `snapshot` gives.
   *
   * @param oid as somebody wrote it down: anything else than a commit's name is null, too
   * @param of  the commit in force
   */
  earlier(oid: CommitOid, of: CommitOid, signal: AbortSignal): Promise<Snapshot | null>;
  /** The repository's address without credentials, for logs and status. */
  readonly url: string;
  readonly branch: string;
}
