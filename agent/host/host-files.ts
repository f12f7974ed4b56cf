import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, statfs } from 'node:fs/promises';
import { posix } from 'node:path';

export type HostPathKind = 'file' | 'directory' | 'socket' | 'other' | 'missing';

/** The host's files, read only. Paths are the host's own; undefined is what could not be seen. Nothing here throws. */
export interface HostFiles {
  /** At most so many bytes from its beginning. */
  text(path: string, mostBytes?: number): Promise<string | undefined>;
  kind(path: string): Promise<HostPathKind | undefined>;
  /** Where a path leads when every link is followed. */
  real(path: string): Promise<string | undefined>;
  /** Of the file system that a path is on. */
  room(path: string): Promise<FileSystemSpace | undefined>;
  /** Names in a directory. */
  names(path: string): Promise<readonly string[] | undefined>;
  /** Opens a file to be read from here and there. To be closed. */
  open(path: string): Promise<OpenFile | undefined>;
  /** The same of a regular file with no link on the way to it. */
  openPlain(path: string): Promise<PlainFile | undefined>;
}

/** How much a file system holds, and what is left of it for anybody but root. */
export interface FileSystemSpace {
  readonly bytes: number;
  readonly availableBytes: number;
  /** 0 where the file system does not count them. */
  readonly inodes: number;
  readonly freeInodes: number;
}

interface OpenFile {
  /** Fewer bytes only where the file ends. @throws where the system does */
  readonly read: (offset: number, length: number) => Promise<Buffer>;
  close(): Promise<void>;
}

export interface PlainFile extends OpenFile {
  /** Bytes when it was opened. */
  readonly size: number;
}

const MOST_BYTES = 256 * 1024;
/** As Linux itself (path_resolution(7)). */
const MOST_LINKS = 40;

/** @param root where the host's root directory is seen; `/` on the host itself */
export function createHostFiles(root: string): HostFiles {
  const at = (path: string): string => posix.join(root, path);

  /** Links lead where they lead on the host, and not out of what is seen of it. */
  const resolve = async (path: string): Promise<string> => {
    let parts = path.split('/').filter((part) => part !== '' && part !== '.');
    let here = '/';
    for (let links = 0; parts.length > 0;) {
      const [part = '', ...rest] = parts;
      const next = part === '..' ? posix.dirname(here) : posix.join(here, part);
      const target = (await lstat(at(next))).isSymbolicLink() ? await readlink(at(next)) : undefined;
      if (target === undefined) {
        [here, parts] = [next, rest];
        continue;
      }
      links += 1;
      if (links > MOST_LINKS) throw Object.assign(new Error('too many links'), { code: 'ELOOP' });
      if (target.startsWith('/')) here = '/';
      parts = [...target.split('/').filter((step) => step !== '' && step !== '.'), ...rest];
    }
    return here;
  };

  return {
    async text(path, mostBytes = MOST_BYTES) {
      try {
        // Never waits for a writer of a pipe.
        const file = await open(at(await resolve(path)), constants.O_RDONLY | constants.O_NONBLOCK);
        try {
          const buffer = Buffer.alloc(mostBytes);
          let length = 0;
          for (let read = -1; read !== 0 && length < mostBytes;) {
            ({ bytesRead: read } = await file.read(buffer, length, mostBytes - length, null));
            length += read;
          }
          return buffer.toString('utf8', 0, length);
        } finally {
          await file.close();
        }
      } catch {
        return undefined;
      }
    },
    async kind(path) {
      try {
        const stat = await lstat(at(await resolve(path)));
        if (stat.isFile()) return 'file';
        if (stat.isDirectory()) return 'directory';
        return stat.isSocket() ? 'socket' : 'other';
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
        // Where the host is not shown, nothing of it is missing.
        return isMissing && (await lstat(root).catch(() => undefined)) !== undefined ? 'missing' : undefined;
      }
    },
    real: (path) => resolve(path).catch(() => undefined),
    async room(path) {
      try {
        const { bsize, blocks, bavail, files, ffree } = await statfs(at(await resolve(path)));
        return { bytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, freeInodes: ffree };
      } catch {
        return undefined;
      }
    },
    async names(path) {
      try {
        return await readdir(at(await resolve(path)));
      } catch {
        return undefined;
      }
    },
    async open(path) {
      try {
        return opened(await open(at(await resolve(path)), constants.O_RDONLY | constants.O_NONBLOCK));
      } catch {
        return undefined;
      }
    },
    async openPlain(path) {
      try {
        const place = at(await resolve(path));
        // A device or a pipe may do something when it is opened.
        if (place !== at(path) || !(await lstat(place)).isFile()) return undefined;
        const file = await open(place, constants.O_NOFOLLOW | constants.O_NONBLOCK);
        return { ...opened(file), size: (await file.stat()).size };
      } catch {
        return undefined;
      }
    },
  };
}

const opened = (file: FileHandle): OpenFile => ({
  async read(offset, length) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  },
  close: () => file.close(),
});
