import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '#shared/runtime/errors.ts';

/** What lies below a directory: kind, mode and content of everything, by path. What goes away meanwhile is not there. */
export async function readTree(
  directory: string,
  leaveOut: (path: string) => boolean,
  path = '',
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(join(directory, path))).toSorted()) {
    const below = join(path, name);
    if (leaveOut(below)) continue;
    const at = join(directory, below);
    const stat = await lstat(at).catch(unlessGone);
    if (stat === undefined) continue;
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isDirectory()) {
      found[below] = `directory ${mode}`;
      Object.assign(found, await readTree(directory, leaveOut, below));
    } else if (stat.isFile()) {
      found[below] = `file ${mode} ${createHash('sha256')
        .update(await readFile(at))
        .digest('hex')}`;
    } else {
      found[below] = stat.isSymbolicLink() ? `link ${await readlink(at)}` : `other ${mode}`;
    }
  }
  return found;
}

function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
