import { posix } from 'node:path';
import type { HostFiles, PlainFile } from '../host/host-files.ts';
import type { LogMark } from '../ports/last-errors.ts';

type Files = Pick<HostFiles, 'names' | 'openPlain'>;

/** Of all files together. */
const MOST_BYTES = 256 * 1024;
/** More than a line that a crash loop writes again and again, so that there is a time in it. */
const TAIL_BYTES = 1024;
/** Beside the one in use. RKE2 keeps three. */
const MOST_OLD = 16;
const NEWLINE = 10;

/** How far a log file is written. One that is not there is written from its beginning. @throws where the system does */
export async function markIn(files: Files, path: string): Promise<LogMark> {
  const file = await files.openPlain(path);
  const offset = file?.size ?? 0;
  try {
    return { offset, tail: await tailAt(file, offset, TAIL_BYTES) };
  } finally {
    await file?.close();
  }
}

const tailAt = async (file: PlainFile | undefined, offset: number, bytes: number): Promise<Buffer> =>
  (await file?.read(Math.max(offset - bytes, 0), Math.min(offset, bytes))) ?? Buffer.alloc(0);

/**
 * The last 256 KiB of what was written since then, the newest line first: of the file that is there now, and of the marked one
 * beside it where that was put aside meanwhile. Without a mark, of the present file. A line whose beginning is left out is left out.
 *
 * @throws where the system does
 */
export async function linesSince(files: Files, path: string, mark: LogMark | undefined): Promise<readonly string[]> {
  const { dir, base, name: stem } = posix.parse(path);
  const names = mark === undefined ? [] : ((await files.names(dir)) ?? []);
  const beside = names.filter((name) => name !== base && name.startsWith(stem)).slice(0, MOST_OLD);
  let text = '';
  let left = MOST_BYTES;
  for (const name of [base, ...beside]) {
    const file = await files.openPlain(posix.join(dir, name));
    if (file === undefined) continue;
    try {
      const { offset, tail } = mark ?? { offset: Infinity, tail: Buffer.alloc(0) };
      const isMarked = file.size >= offset && tail.equals(await tailAt(file, offset, tail.length));
      if (!isMarked && name !== base) continue;
      // With the byte before, which tells whether a line begins there.
      const begin = Math.max(isMarked ? offset - 1 : 0, file.size - left, 0);
      const bytes = await file.read(begin, file.size - begin);
      left -= bytes.length;
      text = bytes.toString('utf8', begin === 0 ? 0 : bytes.indexOf(NEWLINE) + 1 || bytes.length) + text;
      if (isMarked) break;
    } finally {
      await file.close();
    }
  }
  return text.split('\n').toReversed();
}
