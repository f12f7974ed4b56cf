import { dirname } from 'node:path';
import type { FileStat } from '#agent/ports/disk.ts';
import type { FileCalls, NewFile } from '#agent/host/disk/file-calls.ts';
import { systemError } from '../agent/system-error.ts';

interface Entry {
  readonly kind: 'file' | 'directory';
  readonly bytes: Buffer;
  readonly mode: number;
}

/** A file system in memory that holds what is there now and nothing of what was, so that only a node's growth is seen. */
export interface FilesWithoutHistory {
  readonly calls: FileCalls;
  /** Paths of all files below a directory, each with its bytes. */
  below(directory: string): ReadonlyMap<string, Buffer>;
  text(path: string): string | undefined;
  put(path: string, text: string | null): void;
}

const NO_BYTES = Buffer.alloc(0);

export function createFilesWithoutHistory(): FilesWithoutHistory {
  const entries = new Map<string, Entry>([['/', { kind: 'directory', bytes: NO_BYTES, mode: 0o755 }]]);

  const find = (path: string, call: string): Entry => {
    const entry = entries.get(path);
    if (entry === undefined) throw systemError('ENOENT', call, path);
    return entry;
  };
  const statOf = ({ kind, mode, bytes }: Entry): FileStat => ({ kind, mode, uid: 0, gid: 0, size: bytes.length });
  const start = (directory: string): string => (directory === '/' ? '/' : `${directory}/`);
  const makeDirectories = (path: string, mode: number): void => {
    if (entries.has(path)) return;
    makeDirectories(dirname(path), mode);
    entries.set(path, { kind: 'directory', bytes: NO_BYTES, mode });
  };
  const newFile = (path: string): NewFile => {
    const change = async (part: Partial<Entry>): Promise<void> =>
      void entries.set(path, { ...find(path, 'write'), ...part });
    return {
      write: (bytes) => change({ bytes: Buffer.from(bytes) }),
      stat: async () => statOf(find(path, 'fstat')),
      chown: () => Promise.resolve(),
      chmod: (mode) => change({ mode }),
      sync: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  };

  const calls: FileCalls = {
    readFile: async (path) => find(path, 'open').bytes,
    lstat: async (path) => statOf(find(path, 'lstat')),
    async readdir(path) {
      find(path, 'scandir');
      const below = [...entries.keys()].filter((other) => other.startsWith(start(path)) && other !== path);
      return below.map((other) => other.slice(start(path).length)).filter((name) => !name.includes('/'));
    },
    async create(path, mode) {
      find(dirname(path), 'open');
      if (entries.has(path)) throw systemError('EEXIST', 'open', path);
      entries.set(path, { kind: 'file', bytes: NO_BYTES, mode });
      return newFile(path);
    },
    async writeOver(path, bytes) {
      const there = find(path, 'open');
      entries.set(path, { ...there, bytes: Buffer.concat([bytes, there.bytes.subarray(bytes.length)]) });
    },
    async rename(from, to) {
      entries.set(to, find(from, 'rename'));
      entries.delete(from);
    },
    async unlink(path) {
      if (find(path, 'unlink').kind === 'directory') throw systemError('EISDIR', 'unlink', path);
      entries.delete(path);
    },
    async rmdir(path) {
      if ([...entries.keys()].some((other) => other.startsWith(start(path)))) {
        throw systemError('ENOTEMPTY', 'rmdir', path);
      }
      entries.delete(path);
    },
    mkdir: async (path, mode) => makeDirectories(path, mode),
    syncDirectory: async (path) => void find(path, 'open'),
  };
  return {
    calls,
    below: (directory) =>
      new Map(
        [...entries].flatMap(([path, { kind, bytes }]) =>
          kind === 'file' && path.startsWith(start(directory)) ? [[path, bytes] as const] : [],
        ),
      ),
    text: (path) => entries.get(path)?.bytes.toString('utf8'),
    put(path, text) {
      if (text === null) return void entries.delete(path);
      makeDirectories(dirname(path), 0o755);
      entries.set(path, { kind: 'file', bytes: Buffer.from(text), mode: 0o600 });
    },
  };
}
