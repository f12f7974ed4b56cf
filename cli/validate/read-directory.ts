import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '#shared/contract/finding.ts';
import type { RepoFile } from '#reconciler/git/source.ts';

const ROOTS = ['clusters', 'base', 'pools'];
const MOST_BYTES = 256 * 1024;

export interface DirectoryTree {
  readonly files: ReadonlyMap<string, RepoFile>;
  readonly findings: readonly Finding[];
}

/** A config repository as it lies in a directory, read under the same rules as a commit's tree. */
export async function readDirectory(directory: string): Promise<DirectoryTree> {
  const files = new Map<string, RepoFile>();
  const findings: Finding[] = [];
  const refuse = (code: string, path: string, message: string): void => {
    findings.push({ code, severity: 'error', message, file: path });
  };

  async function visit(path: string): Promise<void> {
    const stat = await lstat(join(directory, path)).catch(() => null);
    if (stat === null) return;
    if (stat.isSymbolicLink())
      return refuse('symlink', path, 'symbolic links are not followed: commit the file itself');
    if (stat.isDirectory()) {
      const names = await readdir(join(directory, path));
      for (const name of names.sort()) await visit(`${path}/${name}`);
      return;
    }
    if (!stat.isFile()) return;
    if (stat.size > MOST_BYTES) {
      return refuse('file-too-big', path, `${stat.size} bytes, and at most ${MOST_BYTES} are read`);
    }
    const bytes = await readFile(join(directory, path));
    files.set(path, { path, oid: blobOid(bytes), bytes });
  }

  for (const root of ROOTS) await visit(root);
  return { files, findings };
}

/** The object name that git would give the file. */
function blobOid(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
