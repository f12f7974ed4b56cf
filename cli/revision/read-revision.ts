import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatFinding } from '#shared/contract/finding.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { type ReadTree, readTree } from '#reconciler/git/snapshot/read-tree.ts';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { noFolder, readDirectory } from './read-directory.ts';
import { folderIn, type LocalRepository } from './local-repository.ts';

/** The configuration files of one revision, and what was left out of them. */
export interface Revision extends Pick<ReadTree, 'files' | 'findings'> {
  /** What people call it. */
  readonly name: string;
  /** Null for what is in no commit. */
  readonly commit: Commit | null;
  /** Of the working copy, the files that are not in it as HEAD has them; absent for others, and before the first commit. */
  readonly uncommitted?: readonly string[];
}

/** As it is said to people: with its commit, or what is not committed of it. */
export function revisionLabel({ name, commit, uncommitted = [] }: Revision): string {
  if (commit !== null) return `${name} (${commit.oid.slice(0, 12)})`;
  return uncommitted.length === 0 ? name : `${name} (not committed: ${firstFew(uncommitted, 3)})`;
}

/** What `--revision` and `--head` name: `.`, the default, is what lies in the checkout, as `validate .` reads it. */
export const readNamed = (repository: LocalRepository, name: string | undefined, folder: string): Promise<Revision> =>
  name === undefined || name === '.' ? readWorkingCopy(repository, folder) : readRevision(repository, name, folder);

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

/** What lies in the checkout now, committed or not; where nothing of it differs from HEAD, that is HEAD. */
export async function readWorkingCopy(repository: LocalRepository, folder = ''): Promise<Revision> {
  const { files, findings } = await readDirectory(repository.directory, { folder });
  const copy: Revision = { files, findings, name: 'the working copy', commit: null };
  const head = await readIfThere(repository, 'HEAD', folder).catch(() => undefined);
  if (head === undefined) return copy;
  const paths = [...new Set([...head.files.keys(), ...files.keys()])].sort();
  const uncommitted = paths.filter(
    (path) => head.files.get(path)?.oid !== files.get(path)?.oid && (head.files.has(path) || isPartOf(path, files)),
  );
  const found = ({ findings: all }: Pick<Revision, 'findings'>): readonly string[] => all.map(formatFinding).sort();
  return uncommitted.length === 0 && isDeepStrictEqual(found(head), found(copy)) ? head : { ...copy, uncommitted };
}

/** Whether a file that is not committed is part of the config repository; an inventory that lies beside it is not. */
const isPartOf = (path: string, files: Revision['files']): boolean =>
  /^(?:base|clusters|pools)\//.test(path) ||
  [...files].some(([other, { bytes }]) => other.endsWith('/pool.yaml') && Buffer.from(bytes).includes(basename(path)));

/** Where a revision does not have the folder yet: nothing of it was in force then. */
export async function readIfThere(repository: LocalRepository, name: string, folder: string): Promise<Revision> {
  const commit = await repository.commit(name);
  const isThere = (await folderIn(repository, commit.tree, folder)) !== undefined;
  return isThere ? readRevision(repository, name, folder) : { name, commit, files: new Map(), findings: [] };
}
