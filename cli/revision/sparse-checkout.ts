import { existsSync, realpathSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isDirectory, parseTree } from '#reconciler/git/objects/tree.ts';
import { isConfigPath } from '#reconciler/git/snapshot/config-paths.ts';
import { inFolder } from '#reconciler/policy/in-folder.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { folderIn, type LocalRepository, openRepository } from './local-repository.ts';

/**
 * A working copy that lacks some of the configuration says of it what does not hold: pools that are gone, layers that are missing.
 *
 * @param directory in a checkout, or anywhere else
 * @throws GitopsError `SPARSE_CHECKOUT` where files of the last commit are left out of it
 */
export async function requireCheckedOut(directory: string, folder: string): Promise<void> {
  const repository = await openRepository(directory).catch(() => undefined);
  if (repository === undefined || !(await repository.isSparse())) return;
  const above = relative(realpathSync(repository.directory), realpathSync(directory));
  const { tree } = await repository.commit('HEAD');
  const root = await folderIn(repository, tree, [above, folder].filter((part) => part !== '').join('/'));
  if (root === undefined) return;
  const paths = await configPaths(repository, root, '');
  const absent = paths.filter((path) => !existsSync(resolve(directory, folder, path)));
  const [first] = absent;
  if (first === undefined) return;
  const more = absent.length === 1 ? 'is' : `and ${absent.length - 1} more files of the configuration are`;
  const names = ['clusters', 'base', 'pools'].map((name) => join(above, inFolder(folder, name)));
  throw new GitopsError(
    'SPARSE_CHECKOUT',
    `${inFolder(folder, first)} ${more} not in the working copy of ${directory}, a sparse checkout: ` +
      `git sparse-checkout add ${names.join(' ')} brings them`,
  );
}

/** By their names alone: what is not checked out may not be in the clone either. */
async function configPaths(repository: LocalRepository, tree: string, folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const entry of parseTree(tree, await repository.read(tree, 'tree'))) {
    const path = folder + entry.name.toString('utf8');
    if (!isConfigPath(path)) continue;
    if (isDirectory(entry)) paths.push(...(await configPaths(repository, entry.oid, `${path}/`)));
    else paths.push(path);
  }
  return paths;
}
