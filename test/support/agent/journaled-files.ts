import { dirname } from 'node:path';
import type { FileStat } from '#agent/ports/disk.ts';
import type { FileCalls, NewFile } from '#agent/host/disk/file-calls.ts';
import { createCrashInjector, type CrashInjector, type Point } from './crash-injection.ts';
import { systemError } from './system-error.ts';

export interface Content {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export type Inode =
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'file'; readonly id: number };

export type Names = ReadonlyMap<string, Inode>;

/** A change of names, which the next sync of its directory makes durable. */
export interface Entry {
  readonly directory: string;
  readonly apply: (names: Map<string, Inode>) => void;
}

/** A whole file system at one moment: what processes see, what is durable of that, and what is neither here nor there. */
export interface FrozenFiles {
  readonly names: Names;
  readonly contents: ReadonlyMap<number, Content>;
  readonly durable: Names;
  readonly journal: readonly Entry[];
  /** Contents as they were synced last; none where they never were. */
  readonly synced: ReadonlyMap<number, Content>;
}

/**
 * A file system in memory that keeps a journal, as the usual ones do, and promises no more than they do: contents are
 * durable when the file was synced, names when their directory was. `power-loss.ts` says what becomes of the rest.
 */
export interface JournaledFiles {
  /** For one process. */
  calls(process?: CrashInjector): FileCalls;
  /** Over the beginning of a file, in its place, as a shell's `1<>` does; makes it where there is none. */
  writeOver(process: CrashInjector, path: string, text: string): Promise<void>;
  /** Makes the content of a file durable that is there. */
  syncFile(process: CrashInjector, path: string): Promise<void>;
  /** Every path, with the text of files. */
  tree(): Readonly<Record<string, string>>;
  /** Puts anything anywhere, durably, as only a damaged disk or somebody else would; null takes it away. */
  plant(path: string, content: string | { readonly directory: true } | null): void;
  /** Makes everything durable, and lets go of what has no name any more. */
  sync(): void;
  freeze(): FrozenFiles;
}

const NOTHING: Content = { bytes: Buffer.alloc(0), mode: 0o600, uid: 0, gid: 0 };
const ROOT: readonly [string, Inode] = ['/', { kind: 'directory', mode: 0o755 }];

export function createJournaledFiles(frozen?: FrozenFiles): JournaledFiles {
  const names = new Map<string, Inode>(frozen?.names ?? [ROOT]);
  const durable = new Map<string, Inode>(frozen?.durable ?? [ROOT]);
  const contents = new Map<number, Content>(frozen?.contents);
  const synced = new Map<number, Content>(frozen?.synced);
  let journal: readonly Entry[] = frozen?.journal ?? [];

  let lastId = Math.max(0, ...contents.keys());
  const newId = (content: Content): number => {
    lastId += 1;
    contents.set(lastId, content);
    return lastId;
  };
  const rename = (directory: string, apply: Entry['apply']): void => {
    apply(names);
    journal = [...journal, { directory, apply }];
  };
  const find = (path: string, call: string): Inode => {
    const inode = names.get(path);
    if (inode !== undefined) return inode;
    let parent = dirname(path);
    while (!names.has(parent)) parent = dirname(parent);
    throw systemError(names.get(parent)?.kind === 'file' ? 'ENOTDIR' : 'ENOENT', call, path);
  };
  const findDirectory = (path: string, call: string): void => {
    if (find(path, call).kind === 'file') throw systemError('ENOTDIR', call, path);
  };
  const contentOf = (id: number): Content => contents.get(id) ?? NOTHING;
  const statOf = (inode: Inode): FileStat => {
    if (inode.kind === 'directory') return { kind: 'directory', mode: inode.mode, uid: 0, gid: 0, size: 0 };
    const { bytes, mode, uid, gid } = contentOf(inode.id);
    return { kind: 'file', mode, uid, gid, size: bytes.length };
  };

  const newFile = (path: string, mode: number, process: CrashInjector): NewFile => {
    findDirectory(dirname(path), 'open');
    if (names.has(path)) throw systemError('EEXIST', 'open', path);
    const id = newId({ ...NOTHING, mode });
    rename(dirname(path), (all) => all.set(path, { kind: 'file', id }));
    const change = (part: Partial<Content>): void => void contents.set(id, { ...contentOf(id), ...part });
    return {
      write: (bytes) =>
        process.at({ call: 'write', path }, (part) =>
          change({ bytes: Buffer.from(bytes.subarray(0, Math.floor(bytes.length * part))) }),
        ),
      stat: process.alive(() => Promise.resolve(statOf({ kind: 'file', id }))),
      chown: (uid, gid) => process.at({ call: 'chown', path }, () => change({ uid, gid })),
      chmod: (bits) => process.at({ call: 'chmod', path }, () => change({ mode: bits })),
      sync: () => process.at({ call: 'sync', path }, () => void synced.set(id, contentOf(id))),
      close: process.alive(() => Promise.resolve()),
    };
  };

  const writeOver = (process: CrashInjector, path: string, bytes: Buffer): Promise<void> =>
    process.at({ call: 'write-over', path }, (part) => {
      const inode = find(path, 'open');
      if (inode.kind === 'directory') throw systemError('EISDIR', 'open', path);
      const before = contentOf(inode.id);
      const arrived = bytes.subarray(0, Math.floor(bytes.length * part));
      const whole = Buffer.concat([arrived, before.bytes.subarray(arrived.length)]);
      contents.set(inode.id, { ...before, bytes: whole });
    });

  const callsFor = (process: CrashInjector): FileCalls => {
    const at = (call: Point['call'], path: string, work: () => void): Promise<void> => process.at({ call, path }, work);
    return {
      readFile: (path) =>
        process.read(path, () => {
          const inode = find(path, 'open');
          if (inode.kind === 'directory') throw systemError('EISDIR', 'read', path);
          return contentOf(inode.id).bytes;
        }),
      lstat: process.alive(async (path) => statOf(find(path, 'lstat'))),
      readdir: (path) =>
        process.read(path, () => {
          findDirectory(path, 'scandir');
          return namesIn(names, path);
        }),
      create: (path, mode) => process.at({ call: 'create', path }, () => newFile(path, mode, process)),
      writeOver: (path, bytes) => writeOver(process, path, Buffer.from(bytes)),
      rename: (from, to) =>
        at('rename', to, () => {
          const inode = find(from, 'rename');
          findDirectory(dirname(to), 'rename');
          if (names.get(to)?.kind === 'directory') throw systemError('EISDIR', 'rename', to);
          rename(dirname(to), (all) => {
            all.delete(from);
            all.set(to, inode);
          });
        }),
      unlink: (path) =>
        at('unlink', path, () => {
          if (find(path, 'unlink').kind === 'directory') throw systemError('EISDIR', 'unlink', path);
          rename(dirname(path), (all) => all.delete(path));
        }),
      rmdir: (path) =>
        at('rmdir', path, () => {
          findDirectory(path, 'rmdir');
          if (namesIn(names, path).length > 0) throw systemError('ENOTEMPTY', 'rmdir', path);
          rename(dirname(path), (all) => all.delete(path));
        }),
      async mkdir(path, mode) {
        // No point where nothing is to be changed.
        if (names.get(path)?.kind === 'directory') return;
        await at('mkdir', path, () => {
          if (names.has(path)) throw systemError('EEXIST', 'mkdir', path);
          findDirectory(dirname(path), 'mkdir');
          rename(dirname(path), (all) => all.set(path, { kind: 'directory', mode }));
        });
      },
      syncDirectory: (path) =>
        at('sync-directory', path, () => {
          findDirectory(path, 'open');
          for (const entry of journal) if (entry.directory === path) entry.apply(durable);
          journal = journal.filter(({ directory }) => directory !== path);
        }),
    };
  };

  return {
    calls: (process = createCrashInjector()) => callsFor(process),
    async writeOver(process, path, text) {
      const calls = callsFor(process);
      if (!names.has(path)) await calls.create(path, 0o600);
      await writeOver(process, path, Buffer.from(text));
    },
    syncFile: (process, path) =>
      process.at({ call: 'sync', path }, () => {
        const inode = find(path, 'open');
        if (inode.kind === 'file') synced.set(inode.id, contentOf(inode.id));
      }),
    tree: () => treeOf({ names, contents }),
    plant(path, content) {
      const inode: Inode | null =
        content === null
          ? null
          : typeof content === 'string'
            ? { kind: 'file', id: newId({ ...NOTHING, bytes: Buffer.from(content) }) }
            : { kind: 'directory', mode: 0o700 };
      if (inode?.kind === 'file') synced.set(inode.id, contentOf(inode.id));
      for (const all of [names, durable]) {
        for (const other of all.keys()) if (other === path || other.startsWith(`${path}/`)) all.delete(other);
        if (inode !== null) all.set(path, inode);
      }
    },
    sync() {
      for (const { apply } of journal) apply(durable);
      journal = [];
      const named = new Set([...names.values()].flatMap((inode) => (inode.kind === 'file' ? [inode.id] : [])));
      for (const id of contents.keys()) if (!named.has(id)) contents.delete(id);
      synced.clear();
      for (const [id, content] of contents) synced.set(id, content);
    },
    freeze: () => ({
      names: new Map(names),
      contents: new Map(contents),
      durable: new Map(durable),
      journal,
      synced: new Map(synced),
    }),
  };
}

function namesIn(names: Names, directory: string): readonly string[] {
  const start = directory === '/' ? '/' : `${directory}/`;
  const below = [...names.keys()].filter((path) => path.startsWith(start) && path !== directory);
  return below.map((path) => path.slice(start.length)).filter((name) => !name.includes('/'));
}

export function treeOf({ names, contents }: Pick<FrozenFiles, 'names' | 'contents'>): Readonly<Record<string, string>> {
  const textOf = (inode: Inode): string =>
    inode.kind === 'directory' ? '(directory)' : (contents.get(inode.id)?.bytes.toString('utf8') ?? '');
  return Object.fromEntries([...names].map(([path, inode]) => [path, textOf(inode)]));
}
