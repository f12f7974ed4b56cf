import { GitError, isGitError } from '../errors.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';

/** Whether an error may be due to the object that was asked for: damaged, too large, or not handed out. */
export const isUnreadableNote = (error: unknown): error is GitError =>
  isGitError(error, 'GIT_DAMAGED', 'GIT_TOO_BIG', 'GIT_REMOTE_ERROR', 'GIT_REFUSED', 'GIT_SERVER_ERROR', 'GIT_CUT');

/** The error of one note, in words for the person who has to repair the ref. */
export function unreadableNoteError(error: GitError, commit: CommitOid): GitError {
  const what = `the folder ${commit.slice(0, 2)}/ of the notes ref, where the note of ${commit} lies, cannot be read`;
  // What is said of a commit that is too big does not fit.
  if (error.code === 'GIT_TOO_BIG') return new GitError(error.code, `${what}: it is larger than is allowed`);
  return new GitError(error.code, what, { cause: error });
}
