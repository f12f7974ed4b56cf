import { isGitError } from '../errors.ts';
import type { GitSession } from '../wire/git-session.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import { type ParsedCommit, parseCommit } from '../objects/parse-commit.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { requestObjects, supportsFilter, supportsSingleObjects } from '../wire/request-objects.ts';
import { type PackRequest, requestPack } from '../wire/request-pack.ts';
import { fetchConfiguration, type FetchedContent } from './fetch-configuration.ts';

/** A commit, and the objects that its configuration is read from. */
interface FetchedCommit {
  readonly commit: ParsedCommit;
  readonly content: FetchedContent;
}

/**
 * Fetches a commit with its files. Where that is more than is read, only its configuration is asked for, or at least all of it without
 * its large files: what lies beside it must not keep a fleet from its configs.
 *
 * @param isLarge it was so with the commit before: the whole is not tried
 * @throws GitError `GIT_TOO_BIG` where that does not help, or the server cannot leave anything out
 */
export async function fetchCommit(session: GitSession, oid: CommitOid, isLarge: boolean): Promise<FetchedCommit> {
  const wish = { want: oid, depth: 1 } as const;
  let first: unknown;
  try {
    if (!isLarge) return await whole(oid, await fetched(session, wish), null);
  } catch (error) {
    if (!isGitError(error, 'GIT_TOO_BIG') || !supportsFilter(session)) throw error;
    first = error;
  }
  try {
    if (supportsSingleObjects(session)) return await onlyConfiguration(session, oid);
  } catch (error) {
    if (!refusesFilter(error)) throw error;
    first ??= error;
  }
  const leftOutFrom = session.limits.fileBytes + 1;
  try {
    return await whole(oid, await fetched(session, { ...wish, filter: `blob:limit=${leftOutFrom}` }), leftOutFrom);
  } catch (error) {
    throw refusesFilter(error) ? (first ?? error) : error;
  }
}

/** Servers may know filters and still refuse one. */
export const refusesFilter = (error: unknown): boolean =>
  isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_SERVER_ERROR', 'GIT_REFUSED');

async function whole(oid: CommitOid, store: ObjectStore, leftOutFrom: number | null): Promise<FetchedCommit> {
  return { commit: parseCommit(oid, await store.read(oid, 'commit')), content: { store, leftOutFrom } };
}

async function onlyConfiguration(session: GitSession, oid: CommitOid): Promise<FetchedCommit> {
  const store = createObjectStore();
  await store.addPack(await requestObjects(session, [oid], session.limits, { depth: 1 }));
  const commit = parseCommit(oid, await store.read(oid, 'commit'));
  return { commit, content: await fetchConfiguration(session, commit.tree) };
}

async function fetched(session: GitSession, wish: PackRequest): Promise<ObjectStore> {
  const store = createObjectStore();
  const answer = await requestPack(session, wish, session.limits);
  if (answer.pack !== null) await store.addPack(answer.pack);
  return store;
}
