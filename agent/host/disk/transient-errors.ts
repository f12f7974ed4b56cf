import { errorCodesOf } from './disk-full.ts';

/**
 * Space and file descriptors come back when other processes release them: image garbage collection, log rotation, a process that ends.
 * A file system that is read-only, forbidden or broken stays so until a person fixes it.
 */
const PASSING: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'EINTR']);

/** Whether what a disk refused now may go well later without a person. */
export const isTransientDiskError = (thrown: unknown): boolean =>
  errorCodesOf(thrown).some((code) => PASSING.has(code));
