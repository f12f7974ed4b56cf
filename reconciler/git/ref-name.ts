import { GitError } from './errors.ts';
import { escapeInvisible } from './plain-text.ts';

// Where a part may not: git-check-ref-format(1).
const FORBIDDEN = /[\s~^:?*[\\\p{Cc}\p{Cf}]|\.\.|@\{/u;

/** Whether git accepts this as the full name of a ref (git-check-ref-format). Stricter only in invisible characters. */
export function isRefName(ref: string): boolean {
  const parts = ref.split('/');
  return (
    Buffer.byteLength(ref) <= 250 &&
    parts.length >= 2 &&
    parts[0] === 'refs' &&
    !FORBIDDEN.test(ref) &&
    !ref.endsWith('.') &&
    parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

/**
 * The full name of a branch.
 *
 * @param branch `main` or `refs/heads/main`
 * @throws GitError `GIT_REF_NAME_INVALID`
 */
export function branchRef(branch: string): string {
  const ref = branch.startsWith('refs/') ? branch : `refs/heads/${branch}`;
  if (isRefName(ref) && ref.startsWith('refs/heads/')) return ref;
  throw invalid(`"${escapeInvisible(branch)}" is not a valid name of a branch`, 'write it as git branch shows it');
}

/** @throws GitError `GIT_REF_NAME_INVALID` */
export function notesRef(ref: string): string {
  if (isRefName(ref) && ref.startsWith('refs/notes/')) return ref;
  throw invalid(
    `"${escapeInvisible(ref)}" is not a valid name of a notes ref`,
    'it begins with refs/notes/ and has no spaces',
  );
}

function invalid(what: string, remedy: string): GitError {
  return new GitError('GIT_REF_NAME_INVALID', `${what}: ${remedy}`);
}
