import { join } from 'node:path';
import type { Disk } from '#agent/ports/disk.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';

/** A node's disk from outside, by the names that it has inside. */
export function diskWithin(root: string): Disk {
  const disk = createNodeDisk();
  const at = (path: string): string => join(root, path);
  return {
    read: (path) => disk.read(at(path)),
    stat: (path) => disk.stat(at(path)),
    list: (path) => disk.list(at(path)),
    replace: (path, bytes, owner) => disk.replace(at(path), bytes, owner),
    writeOver: (path, bytes) => disk.writeOver(at(path), bytes),
    makeDirectory: (path, mode) => disk.makeDirectory(at(path), mode),
    remove: (path) => disk.remove(at(path)),
  };
}
