import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Finding, Severity } from '#shared/contract/finding.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { judgeFile, tooDeep } from '#reconciler/git/snapshot/judge-entry.ts';
import { judgeName, withoutEscapes } from '#reconciler/git/snapshot/judge-name.ts';
import { isConfigPath } from '#reconciler/git/snapshot/config-paths.ts';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';
import { layersElsewhere } from '#reconciler/policy/config-repo/layers-elsewhere.ts';
import { foldersOf, inFolder } from '#reconciler/policy/in-folder.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { requireCheckedOut } from './sparse-checkout.ts';
import { type ProgressLine, silent } from '../progress-line.ts';

/** Never part of what is committed, or not read of a commit either: directories that begin with a dot. */
const isSkipped = (name: string): boolean => name === 'node_modules' || name.startsWith('.');

export interface DirectoryTree {
  readonly files: ReadonlyMap<string, RepoFile>;
  readonly findings: readonly Finding[];
}

interface ReadDirectoryOptions {
  /** The folder in it that is the config repository. Default: all of it. */
  readonly folder?: string;
  readonly progress?: ProgressLine;
}

/**
 * A config repository as it lies in a directory, read under the same rules as a commit's tree.
 *
 * @returns files by their path from the folder; their own paths, and those of findings, begin at the directory
 * @throws GitopsError `NO_FOLDER`, `SPARSE_CHECKOUT`
 */
export async function readDirectory(
  checkout: string,
  { folder = '', progress = silent }: ReadDirectoryOptions = {},
): Promise<DirectoryTree> {
  const directory = join(checkout, folder);
  const files = new Map<string, RepoFile>();
  const findings: Finding[] = [];
  const find = (severity: Severity, code: string, path: string, message: string): void =>
    void findings.push({ code, severity, message, file: inFolder(folder, path) });

  /** A directory of the configuration; anything that is one of its entries is looked at. */
  async function visit(path: string): Promise<void> {
    const entries = await readdir(join(directory, path), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const judged = judgeName(Buffer.from(entry.name));
      const at = (name: string): string => (path === '' ? name : `${path}/${name}`);
      if (path === '' && !isConfigPath(withoutEscapes(judged.usable ? judged.name : judged.shown))) continue;
      if (judged.usable || entry.name.startsWith('.')) await look(at(entry.name), isConfigPath);
      else odd(at(judged.shown), judged.why, entry.isDirectory());
    }
  }

  function odd(path: string, why: string, isDirectory: boolean): void {
    const shown = isDirectory ? `${path}/` : path;
    find(isConfigPath(path) ? 'error' : 'warning', 'hostile-name', shown, `the name ${why}: rename it`);
  }

  /** @returns whether it is a directory that can be gone through */
  async function look(path: string, isFile: (path: string) => boolean): Promise<boolean> {
    const stat = await lstat(join(directory, path)).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
    if (stat?.isDirectory() === true) {
      if (isSkipped(basename(path))) return false;
      const { depth } = DEFAULT_GIT_LIMITS;
      if (path.split('/').length >= depth) {
        find('error', 'directory-too-deep', path, tooDeep(depth));
      } else if (!existsSync(join(directory, path, '.git'))) {
        if (isFile(path)) await visit(path);
        return true;
      } else {
        find('error', 'submodule', path, 'submodules are not followed: commit the files themselves');
      }
    } else if (stat?.isSymbolicLink() === true) {
      find('error', 'symlink', path, 'symbolic links are not followed: commit the file itself');
    } else if (stat?.isFile() === true && isFile(path)) await read(path);
    // Bytes that are no UTF-8 come as U+FFFD, by which nothing is found again.
    else if (stat === undefined && path.includes('\uFFFD')) odd(path, 'is not UTF-8', false);
    return false;
  }

  async function read(path: string): Promise<void> {
    const bytes = await readFile(join(directory, path));
    progress.say(`read ${files.size} files`);
    const wrong = judgeFile(bytes, DEFAULT_GIT_LIMITS.fileBytes);
    if (wrong === null) files.set(path, { path: inFolder(folder, path), oid: blobOid(bytes), bytes });
    else find('error', wrong.code, path, wrong.message);
  }

  // Who names a link to a checkout means what it leads to. Inside, links are what they are in a commit.
  for (const path of folder === '' ? [] : [...foldersOf(folder), folder]) {
    const stat = await lstat(join(checkout, path)).catch(() => undefined);
    if (stat?.isDirectory() !== true) throw noFolder(folder, checkout);
  }
  await requireCheckedOut(checkout, folder);
  await visit('');
  for (const layer of new Set([...layersElsewhere(files, isConfigPath)].flat())) {
    for (const path of [...foldersOf(layer).toReversed(), layer]) {
      if (!(await look(path, (each) => each === layer))) break;
    }
  }
  return { files, findings };
}

/** @param where a revision or a directory */
export const noFolder = (folder: string, where: string): GitopsError =>
  new GitopsError('NO_FOLDER', `there is no folder ${folder} in ${where}: name with --path what GIT_PATH names`);

const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The object name that git would give the file. */
function blobOid(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
