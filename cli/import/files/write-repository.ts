import { access, chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { clusterNames } from '#reconciler/policy/config-repo/cluster-names.ts';
import { codeOf, GitopsError, reasonOf } from '#shared/runtime/errors.ts';

export interface WrittenFiles {
  /** Paths from the directory, in the order in which they were written. */
  readonly written: readonly string[];
  /** Files of the team's own that were there already, and stay as they are. */
  readonly kept: readonly string[];
  /** Pools that are there, and that this import does not know. */
  readonly otherPools: readonly string[];
}

/**
 * Writes a repository. Of what was imported, nothing is written where one file is there already, unless it may be overwritten. What a
 * team makes its own (pipelines, owners) is never overwritten.
 *
 * @param made  what was imported, by path
 * @param extra what is written only if missing
 * @throws GitopsError `FILE_EXISTS`, or `IMPORT_UNWRITABLE` where the directory cannot be read or written
 */
export function writeRepository(
  into: string,
  made: ReadonlyMap<string, string>,
  extra: ReadonlyMap<string, string>,
  isForced: boolean,
): Promise<WrittenFiles> {
  return orUnwritable(into, () => writeFiles(into, made, extra, isForced));
}

/** Writes a repository, or nothing where one of its files is there. @throws as `writeRepository` */
export function writeNewFiles(into: string, files: ReadonlyMap<string, string>): Promise<void> {
  return orUnwritable(into, async () => {
    for (const path of files.keys()) {
      if (!(await isThere(join(into, path)))) continue;
      throw new GitopsError(
        'FILE_EXISTS',
        `${join(into, path)} is there already: name another directory, or move it away`,
      );
    }
    for (const [path, text] of files) await writeOne(join(into, path), text, 'wx');
  });
}

async function orUnwritable<Written>(into: string, write: () => Promise<Written>): Promise<Written> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof GitopsError) throw error;
    throw new GitopsError('IMPORT_UNWRITABLE', `${into} cannot be written: ${reasonOf(error)}`);
  }
}

async function writeFiles(
  into: string,
  made: ReadonlyMap<string, string>,
  extra: ReadonlyMap<string, string>,
  isForced: boolean,
): Promise<WrittenFiles> {
  const present = new Set<string>();
  for (const path of [...made.keys(), ...extra.keys()]) if (await isThere(join(into, path))) present.add(path);
  const first = [...made.keys()].find((path) => present.has(path));
  const others = await otherClusters(into, made);
  if (first !== undefined && others.length > 0) {
    const why = `this is the repository of ${others.join(', ')}, and what is imported would take the place of its pools`;
    const name = clusterNames(made.keys())[0] ?? 'other';
    const way = `import into a folder of it, --into ${join(into, name)}, which the reconciler follows by GIT_PATH`;
    throw new GitopsError('FILE_EXISTS', `${join(into, first)} is there already: ${why}: ${way}`);
  }
  if (first !== undefined && !isForced) {
    const way = 'choose another directory with --into, or overwrite what was imported before with --force';
    throw new GitopsError('FILE_EXISTS', `${join(into, first)} is there already: ${way}`);
  }
  const otherPools = await poolsBeside(into, made);
  for (const [path, text] of made) await writeOne(join(into, path), text, isForced ? 'w' : 'wx');
  const missing = [...extra].filter(([path]) => !present.has(path));
  for (const [path, text] of missing) await writeOne(join(into, path), text, 'wx');
  return {
    written: [...made.keys(), ...missing.map(([path]) => path)],
    kept: [...extra.keys()].filter((path) => present.has(path)),
    otherPools,
  };
}

async function writeOne(path: string, text: string, flag: 'w' | 'wx'): Promise<void> {
  await makeFolder(dirname(path));
  await writeFile(path, text, { flag });
  if (path.endsWith('.sh')) await chmod(path, 0o755);
}

/** With those above it. Node's own way never ends where a folder is there and takes none, as `/proc`. */
async function makeFolder(path: string): Promise<void> {
  if (await isThere(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Clusters that have a file there; none where the cluster that is imported is one of them. */
async function otherClusters(into: string, made: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const files = await readdir(join(into, 'clusters')).catch(() => []);
  const present = clusterNames(files.map((name) => `clusters/${name}`));
  return present.some((name) => clusterNames(made.keys()).includes(name)) ? [] : present;
}

async function poolsBeside(into: string, made: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const names = await readdir(join(into, 'pools')).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => !name.startsWith('.') && !made.has(`pools/${name}/pool.yaml`)).sort();
}
