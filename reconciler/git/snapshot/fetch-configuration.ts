import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import { isDirectory, parseTree } from '../objects/tree.ts';
import type { GitSession } from '../wire/git-session.ts';
import { requestObjects } from '../wire/request-objects.ts';
import { isConfigPath } from './config-paths.ts';

/** The objects that a tree's configuration is read from. */
export interface FetchedContent {
  readonly store: ObjectStore;
  /** Files of more bytes were left out by the server; null where all of them are here. */
  readonly leftOutFrom: number | null;
  /** Brings objects elsewhere in the tree, each for itself; absent where all are here. @throws GitError */
  readonly bring?: (oids: readonly string[]) => Promise<void>;
}

/**
 * Fetches a tree's folders of configuration, without what lies beside them and without large files. From servers that hand out single
 * objects.
 *
 * @throws GitError
 */
export async function fetchConfiguration(session: GitSession, tree: string): Promise<FetchedContent> {
  const { limits } = session;
  const store = createObjectStore();
  const bring = async (oids: readonly string[], filter?: string): Promise<void> => {
    await store.addPack(await requestObjects(session, oids, limits, filter === undefined ? {} : { filter }));
  };
  await bring([tree]);
  const entries = parseTree(tree, await store.read(tree, 'tree'));
  const folders = entries.filter((entry) => isDirectory(entry) && isConfigPath(entry.name.toString('utf8')));
  const leftOutFrom = limits.fileBytes + 1;
  const oids = [...new Set(folders.map(({ oid }) => oid))];
  if (oids.length > 0) await bring(oids, `blob:limit=${leftOutFrom}`);
  return { store, leftOutFrom, bring: (wanted) => bring(wanted) };
}
