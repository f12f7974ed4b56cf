import { DEFAULT_GIT_LIMITS } from '#reconciler/git/limits.ts';
import { type ReadTree, readTree } from '#reconciler/git/snapshot/read-tree.ts';
import { isConfigPath } from '#reconciler/git/snapshot/select.ts';
import type { Commit } from '#reconciler/policy/commit.ts';
import { readDirectory } from '../validate/read-directory.ts';
import type { LocalRepository } from './local-repository.ts';

/** The configuration files of one revision, and what was left out of them. */
export interface Revision extends Pick<ReadTree, 'files' | 'findings'> {
  /** What people call it. */
  readonly name: string;
  /** Null for the working copy. */
  readonly commit: Commit | null;
}

/** The same files that the reconciler reads of a commit, under the same limits. */
export async function readRevision(repository: LocalRepository, name: string): Promise<Revision> {
  const commit = await repository.commit(name);
  const tree = await readTree(commit.tree, {
    store: repository,
    limits: DEFAULT_GIT_LIMITS,
    select: isConfigPath,
    known: new Map(),
  });
  return { files: tree.files, findings: tree.findings, name, commit };
}

/** What lies in the checkout now, committed or not. */
export async function readWorkingCopy(repository: LocalRepository): Promise<Revision> {
  return { ...(await readDirectory(repository.directory)), name: 'the working copy', commit: null };
}
