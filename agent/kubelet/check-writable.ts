import { dirname } from 'node:path';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk } from '../ports/disk.ts';
import type { ManagedFile } from '../ports/installer.ts';

/**
 * Whether files can be put into their places with the owners that they have to have, tried before anything is changed: root
 * without capabilities may not write to directories of others, nor give files away. Not for good: it is the node that has to
 * change, and then the same config may be right.
 *
 * @throws GitopsError `INSTALL_NOT_WRITABLE`
 */
export type CheckWritable = (files: readonly ManagedFile[]) => Promise<void>;

/** What is written next beside it takes it away where that was not done here. */
const TRIED = '.kubelet-gitops-tmp-0';

/** @param others more files that may have to be written: the guard's */
export const createCheckWritable =
  (disk: Pick<Disk, 'stat' | 'replace' | 'remove'>, others: readonly string[]): CheckWritable =>
  async (files) => {
    const written = files.filter((file) => file.holds === 'ours');
    for (const { path, owner } of [...written, ...others.map((other) => ({ path: other, owner: { mode: 0o600 } }))]) {
      // A directory that is missing is made.
      if ((await disk.stat(dirname(path)))?.kind !== 'directory') continue;
      const tried = `${path}${TRIED}`;
      try {
        await disk.replace(tried, Buffer.alloc(0), owner);
        await disk.remove(tried);
      } catch (error) {
        const { message, cause } = error as Error;
        throw new GitopsError('INSTALL_NOT_WRITABLE', message.replaceAll(tried, path), { cause });
      }
    }
  };
