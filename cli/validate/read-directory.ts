import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, stat as follow } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Finding } from '#shared/contract/finding.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { judgeFile } from '#reconciler/git/snapshot/judge-entry.ts';
import { judgeName } from '#reconciler/git/snapshot/judge-name.ts';
import { isConfigPath } from '#reconciler/git/snapshot/config-paths.ts';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';
import { inFolder } from '#reconciler/policy/in-folder.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
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
 * @throws GitopsError `NO_FOLDER`
 */
export async function readDirectory(
  checkout: string,
  { folder = '', progress = silent }: ReadDirectoryOptions = {},
): Promise<DirectoryTree> {
  const directory = join(checkout, folder);
  const shown = (path: string): string => inFolder(folder, path);
  const files = new Map<string, RepoFile>();
  const findings: Finding[] = [];

  async function visit(path: string): Promise<void> {
    // Who names a link means what it leads to. Inside, links are what they are in a commit.
    const look = path === '' && folder === '' ? follow : lstat;
    const stat = await look(join(directory, path)).catch((error: unknown) => {
      if (path === '' && folder !== '' && isGone(error)) throw noFolder(folder, checkout);
      if (path === '' || !isGone(error)) throw error;
    });
    if (stat === undefined) return missing(path);
    if (stat.isDirectory()) {
      if (path !== '' && isSkipped(basename(path))) return;
      const entries = await readdir(join(directory, path), { withFileTypes: true });
      if (isConfigPath(path) && entries.some(({ name }) => name === '.git')) {
        const message = 'submodules are not followed: commit the files themselves';
        findings.push({ code: 'submodule', severity: 'error', message, file: shown(path) });
        return;
      }
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const at = (name: string): string => (path === '' ? name : `${path}/${name}`);
        const judged = judgeName(Buffer.from(entry.name));
        if (judged.usable || entry.name.startsWith('.')) await visit(at(entry.name));
        else odd(at(judged.shown), judged.why, entry.isDirectory());
      }
      return;
    }
    if (!isConfigPath(path)) return;
    if (stat.isSymbolicLink()) {
      const message = 'symbolic links are not followed: commit the file itself';
      findings.push({ code: 'symlink', severity: 'error', message, file: shown(path) });
      return;
    }
    if (!stat.isFile()) return;
    const bytes = await readFile(join(directory, path));
    progress.say(`read ${files.size} files`);
    const wrong = judgeFile(bytes, DEFAULT_GIT_LIMITS.fileBytes);
    if (wrong === null) files.set(path, { path: shown(path), oid: blobOid(bytes), bytes });
    else findings.push({ ...wrong, severity: 'error', file: shown(path) });
  }

  function odd(path: string, why: string, isDirectory: boolean): void {
    const isRead = isConfigPath(path);
    // Ignored files may lie here without being committed.
    if (!isRead && !isDirectory) return;
    const message = `the name ${why}: rename it`;
    findings.push({ code: 'hostile-name', severity: isRead ? 'error' : 'warning', message, file: shown(path) });
  }

  /** What was in the directory's list, and is not there. */
  function missing(path: string): void {
    // Bytes that are no UTF-8 come as U+FFFD, by which nothing is found again.
    if (!path.includes('\uFFFD')) return;
    const message = 'the name is not UTF-8: rename it';
    const severity = isConfigPath(path) ? 'error' : 'warning';
    findings.push({ code: 'hostile-name', severity, message, file: shown(path) });
  }

  await visit('');
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
