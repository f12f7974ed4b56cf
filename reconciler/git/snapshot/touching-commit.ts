import { parseCommit, type ParsedCommit } from '../objects/commit.ts';
import type { ObjectStore } from '../objects/store.ts';
import { requestObjects } from '../wire/request-objects.ts';
import type { GitSession } from '../wire/session.ts';
import { folderTrees, treesFrom } from './folder-trees.ts';

/** How many generations are looked at: usually it is the tip itself, or one of the few that came with it. */
const GENERATIONS = [2, 32] as const;

/**
 * The commit, along first parents from the tip, that made the folder what it is at the tip: the newest whose folder is not that
 * of its first parent. Commits and the trees on the way to the folder are fetched for it, and nothing else.
 *
 * @param tree of the folder at the tip
 * @returns the tip where it is further back than is looked
 */
export async function touchingCommit(
  session: GitSession,
  store: ObjectStore,
  tip: ParsedCommit,
  folder: string,
  tree: string,
): Promise<ParsedCommit> {
  for (const depth of GENERATIONS) {
    await store.addPack(await requestObjects(session, [tip.oid], session.limits, { depth }));
    const line = await firstParents(tip, store);
    const trees = await folderTrees(
      line.map((commit) => commit.tree),
      folder,
      store,
      treesFrom(session, store),
    );
    for (const [index, commit] of line.entries()) {
      const parent = line[index + 1];
      if (commit.parents.length === 0) return commit;
      if (parent === undefined) break;
      if (trees.get(parent.tree) !== tree) return commit;
    }
  }
  return tip;
}

/** The tip and its first parents, as far as the store has them. */
async function firstParents(tip: ParsedCommit, store: ObjectStore): Promise<readonly ParsedCommit[]> {
  const line = [tip];
  for (let next = tip.parents[0]; next !== undefined && store.has(next); next = line.at(-1)?.parents[0]) {
    line.push(parseCommit(next, await store.read(next, 'commit')));
  }
  return line;
}
