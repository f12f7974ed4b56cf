import fs from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import git from 'isomorphic-git';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Given } from '../command.ts';
import type { Io } from '../io.ts';
import { folderOf } from '../options.ts';
import { type LocalRepository, openRepository } from './local-repository.ts';
import type { Revision } from './read-revision.ts';

/** A checkout, and the folder of it that is the config repository; empty for its root. */
interface ConfigFolder {
  readonly repository: LocalRepository;
  readonly folder: string;
}

/**
 * What `--repo` and `--path` name. A directory below the root stands for the config repository that it is, or is in: never for
 * another one at the root. Which one that is, is said.
 *
 * @throws GitopsError `NO_REPOSITORY`; `NO_FOLDER` where neither the directory nor one above it has pools/
 */
export async function openConfig(given: Given, err: Io['err']): Promise<ConfigFolder> {
  const directory = given.text('repo') ?? '.';
  const repository = await openRepository(directory);
  if (given.text('path') !== undefined) return { repository, folder: folderOf(given) };
  const root = repository.directory;
  let at = resolve(directory);
  while (at !== root && !(await hasPools(at))) at = dirname(at);
  if (at === root && resolve(directory) !== root && !(await hasPools(root))) {
    const ways = `--repo ${root} for the whole of it, or --path FOLDER with it`;
    throw new GitopsError(
      'NO_FOLDER',
      `${directory} has no pools/, nor has a folder above it in ${root}: give ${ways}`,
    );
  }
  const folder = relative(root, at).split(sep).join('/');
  if (folder !== '') err.write(`reading ${folder}/ of ${root}, as with --path ${folder}\n`);
  return { repository, folder };
}

const hasPools = async (directory: string): Promise<boolean> =>
  stat(join(directory, 'pools')).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Refuses to answer of a folder that is no config repository in any of the revisions: that nothing changes there would be true,
 * and no answer.
 *
 * @throws GitopsError `NO_FOLDER`, with the folders that do have pools/
 */
export async function requirePools(
  { repository, folder }: ConfigFolder,
  revisions: readonly Revision[],
): Promise<void> {
  if (revisions.some(({ files }) => [...files.keys()].some((path) => path.startsWith('pools/')))) return;
  const { directory: dir, gitdir } = repository;
  // Of other folders, revisions do not read the files.
  const paths = await git.listFiles({ fs, dir, gitdir }).catch(() => []);
  const found = paths.flatMap((path) => /^(.+?)\/pools\/[^/]+\/pool\.yaml$/.exec(path)?.[1] ?? []);
  const others = [...new Set(found)].map((path) => `--path ${path}`);
  const names = revisions.map(({ name }) => name);
  const way = others.length === 0 ? 'name the folder that has it with --path' : `it is elsewhere: ${others.join(', ')}`;
  throw new GitopsError(
    'NO_FOLDER',
    `there is no pools/ in ${join(repository.directory, folder)} (${names.join(', ')}): ${way}`,
  );
}
