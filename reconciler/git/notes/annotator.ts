import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { GitError } from '../errors.ts';
import type { SignedNotes } from '../../policy/following/notes-serial.ts';

export interface Annotated {
  /** false: every note that can be written stood there already. */
  readonly written: boolean;
  /** Commits whose note could not be written, because its place on the ref cannot be read. The others were. */
  readonly unreadable: ReadonlyMap<CommitOid, GitError>;
  /** What stands on the ref now, where notes are signed. */
  readonly signed?: SignedNotes;
  /** What it had written before is lost: only these notes stand there. */
  readonly begunAnew?: boolean;
}

/** What is written of one commit. */
export interface NoteContent {
  /** What `git log` shows. */
  readonly text: string;
  /**
   * For programs: a file `ab/cdef….json` beside the note, which git keeps and does not show. One that an older text left there is removed
   * if there is no new one.
   */
  readonly data?: string;
  /** Written only where the commit has no note yet. */
  readonly onlyFirst?: boolean;
}

/** What is written along with notes. */
export interface BesideNotes {
  /** What was signed last, by the record; null where that is lost. */
  readonly signed?: SignedNotes | null;
  /** Where notes are signed: they are signed anew, whatever is new. */
  readonly anew?: boolean;
  /** Makes of the file of proven payloads as it is, null for none, what it is to be. Absent: it stays. */
  readonly payloads?: ((before: string | null) => string) | undefined;
}

/**
 * Writes notes onto commits, merged with what others wrote, never forced. A projection of the cluster's state: this cluster
 * decides nothing from it.
 */
export interface Annotator {
  /**
   * Sets the notes of these commits in one notes commit; a text alone is a note without data. What stands on the ref and cannot be read holds
   * up the notes that lie in it and no other. Errors are `GitError`s; `GIT_FORBIDDEN` (a read-only credential) is for
   * good until the credential changes.
   *
   * Where notes are signed, none of them is needed to sign anew.
   */
  annotate(
    notes: ReadonlyMap<CommitOid, NoteContent | string>,
    signal: AbortSignal,
    beside?: BesideNotes,
  ): Promise<Annotated>;
  /** Whether notes are signed; absent for not. */
  readonly signs?: boolean;
  /** The notes ref, `refs/notes/kubelet-gitops/<cluster>`. */
  readonly ref: string;
}
