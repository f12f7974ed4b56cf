import { isGitError } from '../errors.ts';
import type { GitSession } from '../wire/git-session.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { supportsFilter } from '../wire/request-objects.ts';
import { type PackRequest, requestPack } from '../wire/request-pack.ts';

/** The objects of one commit. */
interface FetchedCommit {
  readonly store: ObjectStore;
  /** Files of more bytes were left out by the server; null where all of them are here. */
  readonly leftOutFrom: number | null;
}

/**
 * Fetches a commit with its files. Where that is more than is read, it is asked for without its large files, which are no
 * configuration: a picture beside it must not keep a fleet from its configs.
 *
 * @throws GitError `GIT_TOO_BIG` where that does not help, or the server cannot leave anything out
 */
export async function fetchCommit(session: GitSession, oid: CommitOid): Promise<FetchedCommit> {
  const wish = { want: oid, depth: 1 } as const;
  try {
    return { store: await fetched(session, wish), leftOutFrom: null };
  } catch (error) {
    if (!isGitError(error, 'GIT_TOO_BIG') || !supportsFilter(session)) throw error;
    const leftOutFrom = session.limits.fileBytes + 1;
    try {
      return { store: await fetched(session, { ...wish, filter: `blob:limit=${leftOutFrom}` }), leftOutFrom };
    } catch (again) {
      throw refusesFilter(again) ? error : again;
    }
  }
}

/** Servers may know filters and still refuse one. */
export const refusesFilter = (error: unknown): boolean =>
  isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_SERVER_ERROR', 'GIT_REFUSED');

async function fetched(session: GitSession, wish: PackRequest): Promise<ObjectStore> {
  const store = createObjectStore();
  const answer = await requestPack(session, wish, session.limits);
  if (answer.pack !== null) await store.addPack(answer.pack);
  return store;
}
