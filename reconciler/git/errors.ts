import { GitopsError } from '#shared/runtime/errors.ts';

/** What the git server (or the way to it) said no with. */
export type GitErrorCode =
  /** The address is no http(s) one, or carries a credential. */
  | 'GIT_URL_UNUSABLE'
  /** The branch or notes ref is not a name that git accepts. */
  | 'GIT_REF_NAME_INVALID'
  /** The files of the credential are missing or malformed. */
  | 'GIT_CREDENTIALS_UNREADABLE'
  /** There is no OpenSSH client, which an address of ssh needs. */
  | 'GIT_SSH_MISSING'
  /** The file of certificate authorities is missing or no PEM. */
  | 'GIT_CA_UNREADABLE'
  /** No connection: DNS, refused, reset before an answer. */
  | 'GIT_UNREACHABLE'
  /** The server's certificate is not trusted, not valid now, or for another name. */
  | 'GIT_UNTRUSTED'
  /** Connecting, waiting or the whole call took too long. */
  | 'GIT_TIMEOUT'
  /** The caller's signal aborted the call. */
  | 'GIT_ABORTED'
  /** 401, or the 203 that Azure DevOps sends instead. */
  | 'GIT_UNAUTHORIZED'
  /** 403: the credential may not do this. */
  | 'GIT_FORBIDDEN'
  /** 404: no such repository, or none that the credential may see. */
  | 'GIT_NOT_FOUND'
  /** 429, or 503 with Retry-After. */
  | 'GIT_THROTTLED'
  /** 5xx. */
  | 'GIT_SERVER_ERROR'
  /** Any other status. */
  | 'GIT_REFUSED'
  /** A redirect to another host, to plain http, of a POST, or to what is no repository. */
  | 'GIT_REDIRECT_REFUSED'
  /** The answer is not of git's smart HTTP protocol: a web page, say. */
  | 'GIT_NOT_GIT'
  /** The answer ended too early, however cleanly. */
  | 'GIT_CUT'
  /** The server's own error message, sent inside a successful answer. */
  | 'GIT_REMOTE_ERROR'
  /** The repository names its objects by SHA-256. */
  | 'GIT_SHA256'
  /** The branch is not there: renamed, deleted, or nothing was ever pushed. */
  | 'GIT_BRANCH_MISSING'
  /** The folder to follow is not a path inside a repository. */
  | 'GIT_PATH_INVALID'
  /** The commit has no such folder. */
  | 'GIT_PATH_MISSING'
  /** Objects are missing or their checksum is wrong. */
  | 'GIT_DAMAGED'
  /** More bytes, objects, files or depth than is read. */
  | 'GIT_TOO_BIG'
  /** Others kept pushing to the notes ref faster than we could. */
  | 'GIT_PUSH_RACE'
  /** A hook or a rule of the server refused the push. */
  | 'GIT_PUSH_REFUSED'
  /** A quota or a full disk of the server refused the push. */
  | 'GIT_PUSH_NO_ROOM'
  /** What is to be annotated is no commit's name. */
  | 'GIT_NOTE_INVALID';

export class GitError extends GitopsError<GitErrorCode> {
  override name = 'GitError';
}

export function isGitError(thrown: unknown, ...codes: readonly GitErrorCode[]): thrown is GitError {
  return thrown instanceof GitError && (codes.length === 0 || codes.includes(thrown.code));
}

/**
 * The commit that cannot be read, now or later, as the source of the error named it (`fields.commit`); undefined where
 * trying again may help.
 */
export function permanentFailure(thrown: unknown): string | undefined {
  const commit = isGitError(thrown) ? thrown.fields['commit'] : undefined;
  return typeof commit === 'string' ? commit : undefined;
}

/** Adds which commit it was to an error that says that there is too much of it. */
export const attributeToCommit = (thrown: unknown, commit: string): unknown =>
  isGitError(thrown, 'GIT_TOO_BIG')
    ? new GitError(thrown.code, thrown.message, { fields: { commit }, cause: thrown.cause })
    : thrown;
