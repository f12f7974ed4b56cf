import type { Disk } from '../ports/disk.ts';
import { damagedRecord } from './record-shape.ts';

/**
 * Reads a file below the state directory. Links and devices are not followed, and nothing is read that is too big to
 * be ours.
 *
 * @returns null where there is none
 * @throws CHECKPOINT_DAMAGED, DISK_READ
 */
export async function readFile(disk: Disk, path: string, maxBytes: number): Promise<Buffer | null> {
  const stat = await disk.stat(path);
  if (stat === null) return null;
  if (stat.kind !== 'file') throw damagedRecord(`${path} is not a file`);
  if (stat.size > maxBytes) throw damagedRecord(`${path} has ${stat.size} bytes`);
  return disk.read(path);
}

/** Makes directories, outermost first; what is in their way cannot be ours and goes. */
export async function ensureDirectories(disk: Disk, ...directories: readonly string[]): Promise<void> {
  for (const path of directories) {
    const stat = await disk.stat(path);
    if (stat?.kind === 'directory') continue;
    if (stat !== null) await disk.remove(path);
    await disk.makeDirectory(path, 0o700);
  }
}
