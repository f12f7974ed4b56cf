import { dirname } from 'node:path';
import type { Disk } from '#agent/ports/disk.ts';
import type { FileCalls } from '#agent/host/disk/file-calls.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { createJournaledFiles, type JournaledFiles } from './journaled-files.ts';
import type { CrashInjector } from './crash-injection.ts';
import { systemError } from './system-error.ts';

/** The node's disk on a file system in memory, which fails when it is told to. */
export interface MemoryDisk extends Disk {
  readonly files: JournaledFiles;
  /** The same disk for one process; what it changes is counted too. */
  forProcess(process: CrashInjector): Disk;
  /** Every path, with the text of files. */
  tree(): Readonly<Record<string, string>>;
  /** Puts anything anywhere, as only a damaged disk would have it. */
  plant: JournaledFiles['plant'];
  /** How many changes were made. */
  changes(): number;
  /** After so many more changes every further one fails, as on a disk that is full; null: none. */
  failAfter(changes: number | null): void;
}

export function createMemoryDisk(files: JournaledFiles = createJournaledFiles()): MemoryDisk {
  let changes = 0;
  let left = Infinity;

  const change = async (path: string, work: () => Promise<void>): Promise<void> => {
    if (left <= 0) {
      const cause = systemError('ENOSPC', 'open', path);
      throw new GitopsError('DISK_WRITE', `cannot write ${path}: the disk is full`, { cause });
    }
    await work();
    left -= 1;
    changes += 1;
  };
  const over = (calls: FileCalls): Disk => {
    const disk = createNodeDisk(calls);
    const makeDirectory: Disk['makeDirectory'] = async (path, mode) => {
      if ((await disk.stat(path))?.kind === 'directory') return;
      if (path !== '/') await makeDirectory(dirname(path), mode);
      await change(path, () => disk.makeDirectory(path, mode));
    };
    return {
      ...disk,
      replace: (path, bytes, owner) => change(path, () => disk.replace(path, bytes, owner)),
      // Needs no room.
      async writeOver(path, bytes) {
        await disk.writeOver(path, bytes);
        changes += 1;
      },
      makeDirectory,
      async remove(path) {
        if ((await disk.stat(path)) !== null) await change(path, () => disk.remove(path));
      },
    };
  };

  return {
    ...over(files.calls()),
    files,
    forProcess: (process) => over(files.calls(process)),
    tree: files.tree,
    plant: files.plant,
    changes: () => changes,
    failAfter: (more) => {
      left = more ?? Infinity;
    },
  };
}
