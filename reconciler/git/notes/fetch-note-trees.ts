import type { GitError } from '../errors.ts';
import type { GitSession } from '../wire/git-session.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';
import { isDirectory, parseTree } from '../objects/tree.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { requestObjects } from '../wire/request-objects.ts';
import { unreadableNoteError, isUnreadableNote } from './unreadable-note.ts';

interface NotesRoot {
  readonly tip: CommitOid;
  /** Tree of the tip. */
  readonly tree: string;
}

/**
 * Fetches the trees of a notes tree that lie on the way to these commits' notes, and no other: what a note costs does not
 * depend on how many there are. One request for each level of directories, and none for what is there already.
 *
 * @returns the commits whose way cannot be fetched or read, and why
 * @throws GitError for a fault of anything but the trees
 */
export async function fetchNoteTrees(
  session: GitSession,
  store: ObjectStore,
  { tip, tree: root }: NotesRoot,
  commits: readonly CommitOid[],
): Promise<ReadonlyMap<CommitOid, GitError>> {
  const unreadable = new Map<CommitOid, GitError>();
  for (;;) {
    const missing = new Map<string, CommitOid[]>();
    for (const commit of commits) {
      if (unreadable.has(commit)) continue;
      try {
        const next = await firstMissing(store, root, commit);
        if (next !== null) missing.set(next, [...(missing.get(next) ?? []), commit]);
      } catch (error) {
        if (!isUnreadableNote(error)) throw error;
        unreadable.set(commit, unreadableNoteError(error, commit));
      }
    }
    if (missing.size === 0) return unreadable;
    const failed = await fetchEach(session, store, [...missing.keys()], tip);
    for (const [oid, error] of failed) {
      for (const commit of missing.get(oid) ?? []) unreadable.set(commit, unreadableNoteError(error, commit));
    }
    // Another round asks for the same only if the server left something out; reading it will say so.
    if ([...missing.keys()].some((oid) => !store.has(oid) && !failed.has(oid))) return unreadable;
  }
}

/** All of them at once, and one by one where that fails. @returns those that the server does not hand out */
export async function fetchEach(
  session: GitSession,
  store: ObjectStore,
  oids: readonly string[],
  tip: CommitOid,
): Promise<ReadonlyMap<string, GitError>> {
  const failed = new Map<string, GitError>();
  const request = async (wants: readonly string[]): Promise<void> => {
    try {
      await store.addPack(await requestObjects(session, wants, session.limits));
    } catch (error) {
      if (!isUnreadableNote(error)) throw error;
      if (wants.length > 1) for (const oid of wants) await request([oid]);
      else failed.set(wants[0] ?? '', error);
    }
  };
  await request(oids);
  // A server in trouble fails for everything. One that hands out the tip has trouble with these trees.
  if (failed.size > 0) await requestObjects(session, [tip], session.limits, { depth: 1 });
  return failed;
}

async function firstMissing(store: ObjectStore, root: string, commit: CommitOid): Promise<string | null> {
  let tree = root;
  for (let rest: string = commit; ; rest = rest.slice(2)) {
    if (!store.has(tree)) return tree;
    const entries = parseTree(tree, await store.read(tree, 'tree'));
    const folder = rest.slice(0, 2);
    const found = entries.find((entry) => isDirectory(entry) && entry.name.toString('latin1') === folder);
    if (found === undefined || rest.length <= 2) return null;
    tree = found.oid;
  }
}
