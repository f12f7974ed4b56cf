import type { Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { codeOf } from '#shared/runtime/errors.ts';
import type { FileStat } from '../../ports/disk.ts';

/**
 * The system calls that the disk is made of, each a moment at which the machine can fail. They fail as Node's do, with
 * the system's code (`ENOENT`, `ENOSPC` …). The machine's own are `systemCalls`; tests have a file system that can lose
 * its power between any two of them.
 */
export interface FileCalls {
  readFile(path: string): Promise<Buffer>;
  /** Does not follow symbolic links. */
  lstat(path: string): Promise<FileStat>;
  readdir(path: string): Promise<readonly string[]>;
  /** Fails with `EEXIST` where there is anything. */
  create(path: string, mode: number): Promise<NewFile>;
  /** Over the beginning of a file that is there; the rest of it stays. */
  writeOver(path: string, bytes: Uint8Array): Promise<void>;
  /** In the place of any file that is there. */
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Of an empty directory. */
  rmdir(path: string): Promise<void>;
  /** The parent must exist; there already is fine. */
  mkdir(path: string, mode: number): Promise<void>;
  /** A rename, a creation or a removal survives a power failure only when the directory itself has reached the disk. */
  syncDirectory(path: string): Promise<void>;
}

/** A file that was just made, and is empty and open. */
export interface NewFile {
  write(bytes: Uint8Array): Promise<void>;
  stat(): Promise<FileStat>;
  chown(uid: number, gid: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export const systemCalls: FileCalls = {
  readFile: (path) => readFile(path),
  lstat: async (path) => statFrom(await lstat(path)),
  readdir: (path) => readdir(path),
  async create(path, mode) {
    const file = await open(path, 'wx', mode);
    return {
      write: (bytes) => file.writeFile(bytes),
      stat: async () => statFrom(await file.stat()),
      chown: (uid, gid) => file.chown(uid, gid),
      chmod: (bits) => file.chmod(bits),
      sync: () => file.sync(),
      close: () => file.close(),
    };
  },
  async writeOver(path, bytes) {
    const file = await open(path, 'r+');
    try {
      await file.write(bytes, 0, bytes.length, 0);
    } finally {
      await file.close();
    }
  },
  rename,
  unlink,
  rmdir,
  // Not `recursive`: below a mount whose directory the host has deleted, Node tries that forever, in one of its few threads.
  async mkdir(path, mode) {
    try {
      await mkdir(path, { mode });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
    }
  },
  async syncDirectory(path) {
    const directory = await open(path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
};

function statFrom(found: Stats): FileStat {
  const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
  return { kind, mode: found.mode & 0o7777, uid: found.uid, gid: found.gid, size: found.size };
}
