import type { Finding } from '#shared/contract/finding.ts';

/** Full SHA-1 of a commit, forty lower-case hex digits. */
export type CommitOid = string;

export interface Commit {
  readonly oid: CommitOid;
  readonly parents: readonly CommitOid[];
  readonly author: { readonly name: string; readonly email: string; readonly at: string };
  /** First line of the message, control characters taken out, at most 200 characters. */
  readonly subject: string;
  /** The commit object's bytes as the server sent them, for the check of signatures. */
  readonly raw: Uint8Array;
}

/** A regular file of the commit's tree. Symbolic links and submodules never become one: they are findings. */
export interface RepoFile {
  /** From the root of the repository, `/` between the parts. */
  readonly path: string;
  /** The blob's object name: equal names mean equal bytes. */
  readonly oid: string;
  readonly bytes: Uint8Array;
}

/** How the commit relates to the one that was last taken up. */
export type Lineage = 'first' | 'same' | 'descendant' | 'rewritten';

export interface Snapshot {
  readonly commit: Commit;
  readonly lineage: Lineage;
  readonly files: ReadonlyMap<string, RepoFile>;
  /** What was left out of `files`, and why (symlinks, submodules, files that are too big), with the path. */
  readonly findings: readonly Finding[];
}

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
