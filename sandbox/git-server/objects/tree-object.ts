import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { Oid } from './oid.ts';

export interface TreeEntry {
  /** Octal digits as git writes them: `100644`, `100755`, `120000`, `40000`, `160000`. */
  readonly mode: string;
  readonly name: string;
  readonly oid: Oid;
  readonly kind: 'file' | 'folder' | 'submodule';
}

export const FOLDER_MODE = '40000';
export const FILE_MODE = '100644';

/** @throws GitServerError `GIT_PACK_INVALID` where the bytes are no tree */
export function readTree(body: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < body.length) {
    const space = body.indexOf(0x20, at);
    const end = space === -1 ? -1 : body.indexOf(0, space);
    if (end === -1 || end + 21 > body.length)
      throw new GitServerError('GIT_PACK_INVALID', 'a tree object is cut short');
    const mode = body.toString('latin1', at, space);
    const oid = body.toString('hex', end + 1, end + 21);
    entries.push({ mode, name: body.toString('utf8', space + 1, end), oid, kind: kindOf(mode) });
    at = end + 21;
  }
  return entries;
}

export function writeTree(entries: readonly TreeEntry[]): Buffer {
  return Buffer.concat(
    [...entries]
      .sort((left, right) => Buffer.compare(sortKey(left), sortKey(right)))
      .flatMap((entry) => [Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.oid, 'hex')]),
  );
}

/** Git orders a folder as if its name ended in `/`: `a.b` comes before the folder `a`, and `a0` after it. */
function sortKey(entry: TreeEntry): Buffer {
  return Buffer.from(entry.kind === 'folder' ? `${entry.name}/` : entry.name);
}

function kindOf(mode: string): TreeEntry['kind'] {
  if (mode === FOLDER_MODE) return 'folder';
  return mode === '160000' ? 'submodule' : 'file';
}
