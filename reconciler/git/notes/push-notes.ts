import git from 'isomorphic-git';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError, isGitError, UNTIL_OPERATOR } from '../errors.ts';
import { httpClientOf } from '../http/http-client.ts';
import type { GitSession } from '../http/session.ts';
import type { RepoParameters } from '../objects/store.ts';
import { plainLine } from '../plain-text.ts';

/**
 * Pushes the ref as it is in memory; the server compares and swaps, nothing is ever forced.
 *
 * @throws GitError `GIT_PUSH_RACE` where another writer was faster, `GIT_PUSH_REFUSED` where a rule says no,
 *   `GIT_FORBIDDEN` or `GIT_UNAUTHORIZED` for the credential
 */
export async function pushNotes(session: GitSession, repo: RepoParameters, ref: string): Promise<void> {
  let remarks = '';
  const http = httpClientOf(session, (text) => (remarks = text));
  try {
    await git.push({
      ...repo,
      http,
      url: session.libraryUrl,
      ref,
      remoteRef: ref,
      remote: 'origin',
      force: false,
      headers: {},
    });
  } catch (error) {
    if (isGitError(error)) throw error;
    throw pushError(error, ref, remarks);
  }
}

/** What servers say of a push that no repetition will get through: git's own hooks and rules, and the forges'. */
const REFUSED = /hook declined|prohibited|denied|not allowed|protected|deny|exists; cannot create|GH0\d\d/i;

function pushError(error: unknown, ref: string, remarks: string): GitError {
  const reason = reportedReason(error, ref);
  const said = plainLine([reason, remarks].filter((text) => text !== '').join(': '), 300);
  if (codeOf(error) !== 'PushRejectedError' && REFUSED.test(`${reason} ${remarks}`)) {
    return new GitError('GIT_PUSH_REFUSED', `the git server refuses notes on ${ref}: ${said}`, {
      disposition: UNTIL_OPERATOR,
      cause: error,
    });
  }
  return new GitError(
    'GIT_PUSH_RACE',
    `${ref} was changed by another writer meanwhile${said === '' ? '' : ` (${said})`}`,
    {
      cause: error,
    },
  );
}

/** The words behind `ng <ref>` in the server's report, or those behind `unpack`. */
function reportedReason(error: unknown, ref: string): string {
  if (typeof error !== 'object' || error === null || !('data' in error)) return '';
  const { result } = error.data as { readonly result?: PushReport };
  return result?.refs?.[ref]?.error ?? result?.error ?? '';
}

interface PushReport {
  readonly error?: string;
  readonly refs?: Readonly<Record<string, { readonly error?: string } | undefined>>;
}
