import { isGitError } from '../errors.ts';
import { parseCommit, type ParsedCommit } from '../objects/parse-commit.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';
import { requestObjects } from '../wire/request-objects.ts';
import type { GitSession } from '../wire/git-session.ts';
import { folderTrees, treesFrom } from './folder-trees.ts';

/** How many generations are looked at before all that are allowed: usually it is the tip itself, or one of the few that came with it. */
const FEW = [2, 32] as const;

/** How many generations to ask for, one after the other, until what is looked for is among them. */
export const depthsUpTo = (generations: number): readonly number[] => [
  ...FEW.filter((few) => few < generations),
  generations,
];

/**
 * The way from the tip to the commit, along first parents, that made the folder what it is at the tip: the newest whose folder is
 * not that of its first parent. Commits and the trees on the way to the folder are fetched for it, and nothing else.
 *
 * @param tree of the folder at the tip
 * @returns the tip first, the commit that made it last; null if it is further back than is searched
 */
export async function folderLastChange(
  session: GitSession,
  store: ObjectStore,
  tip: ParsedCommit,
  folder: string,
  tree: string,
): Promise<readonly ParsedCommit[] | null> {
  try {
    for (const depth of depthsUpTo(session.limits.generations)) {
      const way = await wayWithin(depth, session, store, tip, folder, tree);
      if (way !== null) return way;
    }
  } catch (error) {
    if (!isGitError(error, 'GIT_TOO_BIG')) throw error;
  }
  return null;
}

async function wayWithin(
  depth: number,
  ...[session, store, tip, folder, tree]: Parameters<typeof folderLastChange>
): Promise<readonly ParsedCommit[] | null> {
  await store.addPack(await requestObjects(session, [tip.oid], session.limits, { depth }));
  const line = await firstParents(tip, store);
  const roots = line.map((commit) => commit.tree);
  const trees = await folderTrees(roots, folder, store, treesFrom(session, store));
  for (const [index, commit] of line.entries()) {
    const parent = line[index + 1];
    if (commit.parents.length > 0 && parent === undefined) return null;
    if (parent === undefined || trees.get(parent.tree) !== tree) return line.slice(0, index + 1);
  }
  return null;
}

/** A commit and its first parents, as far as the store has them. */
export async function firstParents(tip: ParsedCommit, store: ObjectStore): Promise<readonly ParsedCommit[]> {
  const line = [tip];
  for (let next = tip.parents[0]; next !== undefined && store.has(next); next = line.at(-1)?.parents[0]) {
    line.push(parseCommit(next, await store.read(next, 'commit')));
  }
  return line;
}
