import type { CommitOid } from '../../policy/commit.ts';

export type Annotated =
  | { readonly written: true; readonly notesCommit: CommitOid }
  /** Every note stood there already. */
  | { readonly written: false };

/**
 * Writes notes onto commits, merged with what others wrote, never forced. A projection of the cluster's state: nothing
 * is ever decided from what it wrote.
 */
export interface Annotator {
  /**
   * Sets the notes of these commits to these texts in one notes commit. Errors are `GitError`s; `GIT_FORBIDDEN`
   * (a read-only credential) is for good until the credential changes.
   */
  annotate(notes: ReadonlyMap<CommitOid, string>, signal: AbortSignal): Promise<Annotated>;
  /** The notes ref, `refs/notes/kubelet-gitops/<cluster>`. */
  readonly ref: string;
}
