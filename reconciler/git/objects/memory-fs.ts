import type { PromiseFsClient } from 'isomorphic-git';
import { copyIfShared } from './own-copy.ts';

const ORDINARY = { mode: 0o644, mtimeMs: 0, ctimeMs: 0, uid: 0, gid: 0, dev: 0, ino: 0 };

/**
 * A file system in memory with as much as isomorphic-git uses of one, so that nothing that a server sends is ever
 * written to a disk. Directories are there as soon as a file is in them.
 */
export function createMemoryFs(): PromiseFsClient {
  const files = new Map<string, Buffer>();

  const isDirectory = (path: string): boolean => {
    for (const file of files.keys()) if (file.startsWith(`${path}/`)) return true;
    return false;
  };
  const stat = (path: string): Promise<object> => {
    const file = files.get(path);
    if (file === undefined && !isDirectory(path)) return missing(path);
    return Promise.resolve({
      ...ORDINARY,
      size: file?.length ?? 0,
      isFile: () => file !== undefined,
      isDirectory: () => file === undefined,
      isSymbolicLink: () => false,
    });
  };

  return {
    promises: {
      readFile(path: string, options?: string | { readonly encoding?: string }) {
        const file = files.get(path);
        if (file === undefined) return missing(path);
        const encoding = typeof options === 'string' ? options : options?.encoding;
        return Promise.resolve(encoding === undefined ? file : file.toString('utf8'));
      },
      writeFile(path: string, content: string | Uint8Array) {
        files.set(path, copyIfShared(typeof content === 'string' ? Buffer.from(content) : content));
        return Promise.resolve();
      },
      unlink: (path: string) => (files.delete(path) ? Promise.resolve() : missing(path)),
      readdir(path: string) {
        const names = new Set<string>();
        for (const file of files.keys()) {
          if (file.startsWith(`${path}/`)) names.add(file.slice(path.length + 1).split('/')[0] ?? '');
        }
        return Promise.resolve([...names]);
      },
      mkdir: () => Promise.resolve(),
      rmdir: () => Promise.resolve(),
      stat,
      lstat: stat,
      readlink: missing,
      symlink: missing,
    },
  };
}

function missing(path: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(`ENOENT: no such file: ${path}`), { code: 'ENOENT' }));
}
