import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { type ReadTree, readTree } from '#reconciler/git/snapshot/read-tree.ts';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { noFolder, readDirectory } from './read-directory.ts';
import { folderIn, type LocalRepository } from './local-repository.ts';

/** The configuration files of one revision, and what was left out of them. */
export interface Revision extends Pick<ReadTree, 'files' | 'findings'> {
  /** What people call it. */
  readonly name: string;
  /** Null for the working copy. */
  readonly commit: Commit | null;
}

/**
 * The same files that the reconciler reads of a commit, under the same limits.
 *
 * @param folder of the repository that is the config repository; empty for its root
 * @throws GitopsError `REVISION_UNKNOWN`, `NO_FOLDER` where the commit does not have it
 */
export async function readRevision(repository: LocalRepository, name: string, folder = ''): Promise<Revision> {
  const commit = await repository.commit(name);
  const root = await folderIn(repository, commit.tree, folder);
  if (root === undefined) throw noFolder(folder, name);
  const tree = await readTree(root, {
    store: repository,
    folder,
    limits: DEFAULT_GIT_LIMITS,
    known: new Map(),
  });
  return { files: tree.files, findings: tree.findings, name, commit };
}

/** What lies in the checkout now, committed or not. */
export async function readWorkingCopy(repository: LocalRepository, folder = ''): Promise<Revision> {
  return { ...(await readDirectory(repository.directory, { folder })), name: 'the working copy', commit: null };
}

/** Where a revision does not have the folder yet: nothing of it was in force then. */
export async function readIfThere(repository: LocalRepository, name: string, folder: string): Promise<Revision> {
  const commit = await repository.commit(name);
  const isThere = (await folderIn(repository, commit.tree, folder)) !== undefined;
  return isThere ? readRevision(repository, name, folder) : { name, commit, files: new Map(), findings: [] };
}
