import type { TreeEntry } from '../objects/tree.ts';

export interface EntryProblem {
  readonly code: string;
  readonly message: string;
}

const REGULAR: ReadonlySet<string> = new Set(['100644', '100755']);

/** Why an entry that is no directory is not a regular file; null for a regular file. */
export function judgeEntry({ mode }: TreeEntry): EntryProblem | null {
  if (REGULAR.has(mode)) return null;
  if (mode === '120000') {
    return { code: 'symlink', message: 'symbolic links are not followed: commit the file itself' };
  }
  if (mode === '160000') {
    return { code: 'submodule', message: 'submodules are not followed: commit the files themselves' };
  }
  return { code: 'odd-mode', message: `the file has the mode ${mode}, which git no longer writes: commit it again` };
}

const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1';

/** Why a file is refused; null if it is not. */
export function judgeFile(bytes: Uint8Array, mostBytes: number): EntryProblem | null {
  if (bytes.length > mostBytes) {
    return { code: 'file-too-big', message: `${bytes.length} bytes, and at most ${mostBytes} are read` };
  }
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, LFS_POINTER.length)).toString(
    'latin1',
  );
  if (head !== LFS_POINTER) return null;
  return {
    code: 'lfs-pointer',
    message: 'the file is kept in Git LFS, and only a pointer to it is in the commit: commit the file itself',
  };
}

/** What is said of a directory that is further down than is read. */
export const tooDeep = (most: number): string => `directories are read ${most} deep, and no further: move it up`;
