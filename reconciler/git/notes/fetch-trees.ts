import type { GitSession } from '../wire/session.ts';
import type { ObjectStore } from '../objects/store.ts';
import { isDirectory, parseTree } from '../objects/tree.ts';
import type { CommitOid } from '../../policy/commit.ts';
import { requestObjects } from '../wire/request-objects.ts';

/**
 * Fetches the trees of a notes tree that lie on the way to these commits' notes, and no other: what a note costs does not
 * depend on how many there are. One request for each level of directories, and none for what is there already.
 */
export async function fetchTrees(
  session: GitSession,
  store: ObjectStore,
  root: string,
  commits: readonly CommitOid[],
): Promise<void> {
  for (;;) {
    const missing = new Set<string>();
    for (const commit of commits) {
      const next = await firstMissing(store, root, commit);
      if (next !== null) missing.add(next);
    }
    if (missing.size === 0) return;
    await store.addPack(await requestObjects(session, [...missing], session.limits));
    // Another round asks for the same only if the server left something out; reading it will say so.
    if ([...missing].some((oid) => !store.has(oid))) return;
  }
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
