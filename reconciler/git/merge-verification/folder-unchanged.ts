import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { isGitError } from '../errors.ts';
import { type ParsedCommit, parseCommit } from '../objects/parse-commit.ts';
import { createObjectStore } from '../objects/git-object-store.ts';
import type { Remote } from '../remote.ts';
import { folderTrees, treesFrom } from '../snapshot/folder-trees.ts';
import { judgeLineage } from '../snapshot/lineage.ts';
import { depthsUpTo, firstParents } from '../snapshot/folder-last-change.ts';
import { supportsSingleObjects, requestObjects } from '../wire/request-objects.ts';
import type { GitSession } from '../wire/git-session.ts';

/**
 * Whether one commit stands on top of another, along first parents, and the folder is in both, and in all between, the same. A signature
 * of the upper one then vouches for the folder as the lower one has it. False if it is further up than is searched, and
 * if the server hands out no single objects. Rejects with GitErrors.
 */
export type FolderUnchanged = (top: CommitOid, commit: CommitOid, signal: AbortSignal) => Promise<boolean>;

/** Answers never change; those about the commit that was asked about last are kept. */
export function createFolderUnchanged(remote: Remote, folder: string): FolderUnchanged {
  let known: { readonly commit: CommitOid; readonly answers: Map<CommitOid, boolean> } | undefined;
  return async (top, commit, signal) => {
    if (known?.commit !== commit) known = { commit, answers: new Map() };
    const { answers } = known;
    const answer = answers.get(top) ?? (await remote.within(signal, (session) => ask(session, top, commit, folder)));
    answers.set(top, answer);
    return answer;
  };
}

async function ask(session: GitSession, top: CommitOid, commit: CommitOid, folder: string): Promise<boolean> {
  // What the server can do is not known before.
  await session.greet('git-upload-pack', 2);
  if (!supportsSingleObjects(session)) return false;
  try {
    // Most tags are of older commits: one question instead of a walk down to the first commit.
    const line = (await descends(session, top, commit)) ? await lineDownTo(session, top, commit) : null;
    if (line === null) return false;
    const store = createObjectStore();
    const roots = line.map(({ tree }) => tree);
    const trees = await folderTrees(roots, folder, store, treesFrom(session, store));
    const below = trees.get(line.at(-1)?.tree ?? '') ?? null;
    return below !== null && roots.every((root) => trees.get(root) === below);
  } catch (error) {
    if (isGitError(error, 'GIT_TOO_BIG')) return false;
    throw error;
  }
}

async function descends(session: GitSession, top: CommitOid, commit: CommitOid): Promise<boolean> {
  const store = createObjectStore();
  await store.addPack(await requestObjects(session, [top], session.limits, { depth: 1 }));
  const { lineage } = await judgeLineage(session, parseCommit(top, await store.read(top, 'commit')), commit);
  return lineage === 'descendant';
}

/** The upper commit and its first parents, down to the lower one; null where that is not among them. */
async function lineDownTo(
  session: GitSession,
  top: CommitOid,
  commit: CommitOid,
): Promise<readonly ParsedCommit[] | null> {
  for (const depth of depthsUpTo(session.limits.generations)) {
    const store = createObjectStore();
    await store.addPack(await requestObjects(session, [top], session.limits, { depth }));
    const line = await firstParents(parseCommit(top, await store.read(top, 'commit')), store);
    const end = line.findIndex(({ oid }) => oid === commit);
    if (end >= 0) return line.slice(0, end + 1);
    if (line.at(-1)?.parents.length === 0) return null;
  }
  return null;
}
