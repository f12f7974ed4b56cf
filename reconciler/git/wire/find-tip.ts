import git from 'isomorphic-git';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError, isGitError } from '../errors.ts';
import { httpClientOf } from './http-client.ts';
import type { GitSession } from './git-session.ts';

/**
 * The commit that a ref names now; null without such a ref. The request has the name, so that the answer
 * is a line whatever else it has, and its protocol's version is remembered, so that a poll is a single request.
 *
 * @throws GitError
 */
export async function findTip(session: GitSession, ref: string): Promise<string | null> {
  const refs = await listRefs(session, ref);
  // The server matches by prefix: `main` brings `main-2` along.
  const oid = refs.find((candidate) => candidate.ref === ref)?.oid;
  if (oid === undefined) return null;
  if (/^[0-9a-f]{40}$/.test(oid)) return oid;
  throw new GitError('GIT_NOT_GIT', `${session.url} names no commit for ${ref}`);
}

/** A ref as the server lists it. */
interface ListedRef {
  readonly ref: string;
  readonly oid: string;
  /** The object that an annotated tag leads to in the end. */
  readonly peeled?: string | undefined;
}

/**
 * The refs whose names begin like this. Not checked in any way.
 *
 * @param peelTags whether annotated tags say what they lead to
 * @throws GitError
 */
export async function listRefs(session: GitSession, prefix: string, peelTags = false): Promise<readonly ListedRef[]> {
  try {
    const http = httpClientOf(session);
    return await git.listServerRefs({ http, url: session.libraryUrl, prefix, peelTags, headers: {} });
  } catch (error) {
    if (isGitError(error)) throw error;
    const why = codeOf(error) ?? 'for an unknown reason';
    throw new GitError('GIT_NOT_GIT', `the answer of ${session.url} cannot be read (${why})`, { cause: error });
  }
}
