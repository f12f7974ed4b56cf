import git from 'isomorphic-git';
import { GitError, isGitError } from '../errors.ts';
import type { GitSession } from '../wire/git-session.ts';
import { parseCommit } from '../objects/parse-commit.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { findTip } from '../wire/find-tip.ts';
import { supportsSingleObjects, requestObjects } from '../wire/request-objects.ts';
import { requestPack } from '../wire/request-pack.ts';
import { isUnreadableNote } from './unreadable-note.ts';

/** A notes ref as the server had it, in memory. */
export interface NotesStore {
  readonly objects: ObjectStore;
  /** null where the ref is not there yet. */
  readonly tip: CommitOid | null;
  /** Tree of the tip. */
  readonly tree: string | null;
  /** Only the way to single notes is here; the rest is fetched when it is needed. */
  readonly sparse: boolean;
}

/** A notes ref that is there. */
export type NotesAt = NotesStore & { readonly tip: CommitOid; readonly tree: string };

/**
 * What the server has on the ref: the commit and the root of its tree if the server hands out single objects, and all
 * notes if it does not.
 */
export async function loadNotes(session: GitSession, ref: string): Promise<NotesStore> {
  const objects = createObjectStore();
  const tip = await findTip(session, ref);
  return tip === null ? { objects, tip, tree: null, sparse: false } : openNotes(session, objects, tip);
}

/** The same of one tip, in a store that may have some of it already. */
export async function openNotes(session: GitSession, objects: ObjectStore, tip: CommitOid): Promise<NotesAt> {
  const sparse = supportsSingleObjects(session) && (await takesSingle(session, objects, tip));
  if (!sparse) {
    // Their number, and the size of one by another writer, do not matter here: all of them together are limited.
    const { objects: most, objectBytes } = session.limits;
    const limits = { ...session.limits, objects: 10 * most, objectBytes: 16 * objectBytes };
    const answer = await requestPack(session, { want: tip, depth: 1 }, limits);
    if (answer.pack !== null) await objects.addPack(answer.pack);
  }
  const { tree } = parseCommit(tip, await objects.read(tip, 'commit'));
  return { objects, tip, tree, sparse };
}

/** Servers may announce filters and still refuse to hand out a tree by its name. */
async function takesSingle(session: GitSession, objects: ObjectStore, tip: CommitOid): Promise<boolean> {
  try {
    // Without the depth, all commits before it would come as well: one for each push of notes, ever.
    await objects.addPack(await requestObjects(session, [tip], session.limits, { depth: 1 }));
    const { tree, parents } = parseCommit(tip, await objects.read(tip, 'commit'));
    await addRoot(session, objects, { tip, tree, parents });
    return objects.has(tree);
  } catch (error) {
    if (isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_REFUSED', 'GIT_DAMAGED')) return false;
    throw error;
  }
}

/**
 * git's own servers look at each folder of a tree that they hand out, and hand out nothing where one is damaged. They leave out
 * what the commit before has as well, and do not look at that.
 */
async function addRoot(
  session: GitSession,
  objects: ObjectStore,
  { tip, tree, parents }: { readonly tip: CommitOid; readonly tree: string; readonly parents: readonly CommitOid[] },
): Promise<void> {
  try {
    await objects.addPack(await requestObjects(session, [tree], session.limits));
  } catch (error) {
    if (!isUnreadableNote(error) || parents.length === 0) throw error;
    const wish = { haves: parents, filter: 'blob:none' };
    await objects.addPack(await requestObjects(session, [tip], session.limits, wish));
  }
}

export interface NotesAuthor {
  readonly name: string;
  readonly email: string;
}

/** Makes the commit that has this tree and follows the store's tip, in memory only. */
export async function commitNotes(
  store: NotesStore,
  tree: string,
  by: { readonly author: NotesAuthor; readonly seconds: number; readonly message: string },
): Promise<CommitOid> {
  const signed = { ...by.author, timestamp: by.seconds, timezoneOffset: 0 };
  const parent = store.tip === null ? [] : [store.tip];
  const { repo } = store.objects;
  const commit = { message: by.message, tree, parent, author: signed, committer: signed };
  return git.writeCommit({ ...repo, commit });
}

/** The error for a commit name that could end up as a path. */
export function assertCommitOid(oid: string): void {
  if (/^[0-9a-f]{40}$/.test(oid)) return;
  throw new GitError('GIT_NOTE_INVALID', 'a note was to be written on something that is not the full name of a commit');
}
