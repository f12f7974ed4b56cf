import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Finding } from '#shared/contract/finding.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/limits.ts';
import { judgeFile } from '#reconciler/git/snapshot/judge-entry.ts';
import { isConfigPath } from '#reconciler/git/snapshot/select.ts';
import type { RepoFile } from '#reconciler/policy/commit.ts';
import { type Progress, silent } from '../progress.ts';

/** Never part of what is committed, or not read of a commit either: directories that begin with a dot. */
const isSkipped = (name: string): boolean => name === 'node_modules' || name.startsWith('.');

export interface DirectoryTree {
  readonly files: ReadonlyMap<string, RepoFile>;
  readonly findings: readonly Finding[];
}

/** A config repository as it lies in a directory, read under the same rules as a commit's tree. */
export async function readDirectory(directory: string, progress: Progress = silent): Promise<DirectoryTree> {
  const files = new Map<string, RepoFile>();
  const findings: Finding[] = [];

  async function visit(path: string): Promise<void> {
    const stat = await lstat(join(directory, path)).catch((error: unknown) => {
      if (path === '' || !isGone(error)) throw error;
    });
    if (stat === undefined) return missing(path);
    if (stat.isDirectory()) {
      if (path !== '' && isSkipped(basename(path))) return;
      for (const name of (await readdir(join(directory, path))).sort()) {
        await visit(path === '' ? name : `${path}/${name}`);
      }
      return;
    }
    if (!isConfigPath(path)) return;
    if (stat.isSymbolicLink()) {
      const message = 'symbolic links are not followed: commit the file itself';
      findings.push({ code: 'symlink', severity: 'error', message, file: path });
      return;
    }
    if (!stat.isFile()) return;
    const bytes = await readFile(join(directory, path));
    progress.say(`read ${files.size} files`);
    const wrong = judgeFile(bytes, DEFAULT_GIT_LIMITS.fileBytes);
    if (wrong === null) files.set(path, { path, oid: blobOid(bytes), bytes });
    else findings.push({ ...wrong, severity: 'error', file: path });
  }

  /** What was in the directory's list, and is not there. */
  function missing(path: string): void {
    // Bytes that are no UTF-8 come as U+FFFD, by which nothing is found again.
    if (!path.includes('\uFFFD')) return;
    const message = 'the name is not UTF-8: rename it';
    findings.push({ code: 'hostile-name', severity: isConfigPath(path) ? 'error' : 'warning', message, file: path });
  }

  await visit('');
  return { files, findings };
}

const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The object name that git would give the file. */
function blobOid(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
