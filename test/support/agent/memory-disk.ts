import { dirname, join } from 'node:path';
import type { Disk, FileStat } from '#agent/disk/disk.ts';
import { GitopsError } from '#shared/runtime/errors.ts';

type Entry = { readonly kind: 'directory' } | { readonly kind: 'file'; readonly bytes: Buffer; readonly mode: number };

/** A disk in memory, which behaves as the real one does, and fails when it is told to. */
export interface MemoryDisk extends Disk {
  /** Every path, with the text of files. */
  tree(): Readonly<Record<string, string>>;
  /** Puts anything anywhere, as only a damaged disk would have it. */
  plant(path: string, content: string | { readonly directory: true }): void;
  /** How many changes were made. */
  changes(): number;
  /** After so many more changes every further one fails, as on a disk that is full; null: none. */
  failAfter(changes: number | null): void;
}

export function createMemoryDisk(): MemoryDisk {
  const entries = new Map<string, Entry>([['/', { kind: 'directory' }]]);
  let changes = 0;
  let left = Infinity;

  const change = (path: string): void => {
    if (left <= 0) throw new GitopsError('DISK_WRITE', `cannot write ${path}: the disk is full`);
    left -= 1;
    changes += 1;
  };
  const below = (path: string): readonly string[] =>
    [...entries.keys()].filter((other) => other.startsWith(`${path}/`));
  const needDirectory = (path: string): void => {
    if (entries.get(path)?.kind !== 'directory') throw new GitopsError('DISK_WRITE', `${path} is no directory`);
  };

  return {
    async read(path) {
      const entry = entries.get(path);
      if (entry?.kind === 'directory') throw new GitopsError('DISK_READ', `${path} is a directory`);
      return entry?.bytes ?? null;
    },
    async stat(path): Promise<FileStat | null> {
      const entry = entries.get(path);
      if (entry === undefined) return null;
      const [mode, size] = entry.kind === 'file' ? [entry.mode, entry.bytes.length] : [0o700, 0];
      return { kind: entry.kind, mode, uid: 0, gid: 0, size };
    },
    async list(path) {
      const names = below(path).map((other) => other.slice(path.length + 1));
      return names.filter((name) => !name.includes('/')).sort();
    },
    async replace(path, bytes, { mode }) {
      needDirectory(dirname(path));
      if (entries.get(path)?.kind === 'directory') throw new GitopsError('DISK_WRITE', `${path} is a directory`);
      change(path);
      entries.set(path, { kind: 'file', bytes: Buffer.from(bytes), mode });
    },
    async makeDirectory(path) {
      for (let part = ''; part !== path;) {
        part = join(part === '' ? '/' : part, path.slice(part.length + 1).split('/')[0] ?? '');
        const entry = entries.get(part);
        if (entry?.kind === 'file') throw new GitopsError('DISK_WRITE', `${part} is no directory`);
        if (entry === undefined) change(part);
        entries.set(part, { kind: 'directory' });
      }
    },
    async remove(path) {
      if (!entries.has(path)) return;
      change(path);
      for (const other of [path, ...below(path)]) entries.delete(other);
    },
    tree: () =>
      Object.fromEntries(
        [...entries].map(([path, entry]) => [
          path,
          entry.kind === 'file' ? entry.bytes.toString('utf8') : '(directory)',
        ]),
      ),
    plant(path, content) {
      for (const other of [path, ...below(path)]) entries.delete(other);
      if (typeof content === 'string') entries.set(path, { kind: 'file', bytes: Buffer.from(content), mode: 0o600 });
      else entries.set(path, { kind: 'directory' });
    },
    changes: () => changes,
    failAfter: (more) => {
      left = more ?? Infinity;
    },
  };
}
