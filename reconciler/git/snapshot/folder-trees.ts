import { isDirectory, parseTree } from '../objects/tree.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';
import { requestObjects } from '../wire/request-objects.ts';
import type { GitSession } from '../wire/git-session.ts';

/** Brings trees into a store, each for itself, without what they point to. */
type FetchTrees = (oids: readonly string[]) => Promise<void>;

export const treesFrom =
  (session: GitSession, store: ObjectStore): FetchTrees =>
  async (oids) =>
    void (await store.addPack(await requestObjects(session, oids, session.limits)));

/**
 * The tree of a folder below each of these roots. One request for each level of the path, however many roots there are, and
 * none for what the store has.
 *
 * @param roots names of trees
 * @returns by root; null where there is no folder of that path
 * @throws GitError `GIT_DAMAGED` where the server leaves a tree out
 */
export async function folderTrees(
  roots: readonly string[],
  folder: string,
  store: ObjectStore,
  fetchTrees: FetchTrees,
): Promise<ReadonlyMap<string, string | null>> {
  const at = new Map<string, string | null>(roots.map((root) => [root, root]));
  for (const part of folder === '' ? [] : folder.split('/')) {
    const present = [...at.values()].filter((oid) => oid !== null);
    const missing = [...new Set(present)].filter((oid) => !store.has(oid));
    if (missing.length > 0) await fetchTrees(missing);
    for (const [root, oid] of at) at.set(root, oid === null ? null : await folderIn(oid, part, store));
  }
  return at;
}

async function folderIn(tree: string, name: string, store: ObjectStore): Promise<string | null> {
  const entries = parseTree(tree, await store.read(tree, 'tree'));
  return entries.find((entry) => isDirectory(entry) && entry.name.toString('utf8') === name)?.oid ?? null;
}
