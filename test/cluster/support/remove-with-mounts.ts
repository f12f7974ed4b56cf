import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { until } from '../../support/until.ts';

/**
 * Removes a directory that a kubelet or a container runtime lived in. They leave mounts behind: the kubelet binds its
 * root directory onto itself, so that mounts below it propagate. What they started may hold one for a moment longer than they live.
 */
export async function removeWithMounts(directory: string): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const below = mounts
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${directory}/`));
  // The last one mounted may lie on top of the others.
  for (const path of below.toReversed()) await until(`the end of the mount ${path}`, () => unmounted(path));
  await rm(directory, { recursive: true, force: true, maxRetries: 10 });
}

async function unmounted(path: string): Promise<true> {
  await promisify(execFile)('umount', [path]);
  return true;
}
