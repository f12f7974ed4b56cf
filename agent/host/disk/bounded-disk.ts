import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk } from '../../ports/disk.ts';
import { withDeadline } from '../deadline.ts';

/** A disk under heavy load takes seconds to sync. */
const TIMEOUT_MS: Millis = 30_000;
/** Each call that hangs holds one of the four threads that Node has for all of its file calls. */
const MOST_HANGING = 2;

/**
 * A disk that answers in any case: a call that hangs (a broken device, a network file system whose server is gone) fails
 * after a while, and as long as some hang, all others fail at once. One that was given up may still be carried out later:
 * the next look sees that as a change by another writer.
 */
export function boundDisk(disk: Disk, clock: Clock): Disk {
  let hanging = 0;
  const never = new AbortController().signal;
  const within = async <T>(code: 'DISK_READ' | 'DISK_WRITE', what: string, work: () => Promise<T>): Promise<T> => {
    if (hanging >= MOST_HANGING) throw hangs(code, what);
    let isOver = false;
    const done = work().finally(() => {
      if (isOver) hanging -= 1;
      isOver = true;
    });
    try {
      return await withDeadline(clock, TIMEOUT_MS, never, () => done);
    } catch (error) {
      if (isOver) throw error;
      [isOver, hanging] = [true, hanging + 1];
      throw hangs(code, what);
    }
  };
  return {
    read: (path) => within('DISK_READ', `cannot read ${path}`, () => disk.read(path)),
    stat: (path) => within('DISK_READ', `cannot look at ${path}`, () => disk.stat(path)),
    list: (path) => within('DISK_READ', `cannot list ${path}`, () => disk.list(path)),
    replace: (path, ...rest) => within('DISK_WRITE', `cannot write ${path}`, () => disk.replace(path, ...rest)),
    writeOver: (path, bytes) => within('DISK_WRITE', `cannot write over ${path}`, () => disk.writeOver(path, bytes)),
    makeDirectory: (path, mode) =>
      within('DISK_WRITE', `cannot make the directory ${path}`, () => disk.makeDirectory(path, mode)),
    remove: (path) => within('DISK_WRITE', `cannot remove ${path}`, () => disk.remove(path)),
  };
}

const hangs = (code: 'DISK_READ' | 'DISK_WRITE', what: string): GitopsError =>
  new GitopsError(code, `${what}: the disk does not answer: look at the kernel log`);
