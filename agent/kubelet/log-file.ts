import { posix } from 'node:path';
import type { HostFiles, PlainFile } from '../host/host-files.ts';
import type { LogMark } from '../ports/last-errors.ts';

type Files = Pick<HostFiles, 'names' | 'openPlain'>;

/** Of all files together. */
const MOST_BYTES = 256 * 1024;
const TAIL_BYTES = 64;
/** Beside the one in use. RKE2 keeps three. */
const MOST_OLD = 16;
/** As RKE2 does it with each, and a moment later it is the only one. */
const COMPRESSED = /\.(?:gz|bz2|xz|zst)$/;
const NEWLINE = 10;

/** How far a log file is written. One that is not there is written from its beginning. */
export const markIn = (files: Files, path: string): Promise<LogMark> =>
  withFile(files, path, async (file) => {
    const length = Math.min(file?.size ?? 0, TAIL_BYTES);
    const tail = await file?.read(file.size - length, length);
    return { inode: file?.inode ?? 0, offset: file?.size ?? 0, tail: tail ?? Buffer.alloc(0) };
  });

/**
 * The last 256 KiB of what was written since then, the newest line first: of the file that is there now, and of those beside it
 * that were put aside meanwhile. Without a mark, of the present file alone. A line whose beginning is left out is left out.
 *
 * @throws where the system does
 */
export async function linesSince(files: Files, path: string, mark: LogMark | undefined): Promise<readonly string[]> {
  const parts: Buffer[] = [];
  let left = MOST_BYTES;
  const take = async (file: PlainFile | undefined): Promise<boolean> => {
    if (file === undefined || left <= 0) return true;
    const isMarked = mark !== undefined && (await goesOnFrom(file, mark));
    // With the byte before, which tells whether a line begins there.
    const begin = Math.max(isMarked ? mark.offset - 1 : 0, file.size - left, 0);
    const bytes = await file.read(begin, file.size - begin);
    left -= bytes.length;
    const cut = begin === 0 ? 0 : bytes.indexOf(NEWLINE) + 1 || bytes.length;
    parts.unshift(bytes.subarray(cut));
    return isMarked;
  };
  const isMarked = await withFile(files, path, take);
  const old = isMarked || mark === undefined ? [] : await putAside(files, path, mark);
  for (const other of old) await withFile(files, other, take);
  return Buffer.concat(parts).toString('utf8').split('\n').toReversed();
}

/** Those that were put aside since the mark, the newest first; none where the marked one is gone. */
async function putAside(files: Files, path: string, mark: LogMark): Promise<readonly string[]> {
  const directory = posix.dirname(path);
  const { base, name: stem } = posix.parse(path);
  const names = ((await files.names(directory)) ?? []).filter(
    (name) => name !== base && name.startsWith(stem) && !COMPRESSED.test(name),
  );
  const found: { readonly path: string; readonly modifiedMs: number; readonly isMarked: boolean }[] = [];
  for (const name of names.slice(0, MOST_OLD)) {
    const other = posix.join(directory, name);
    await withFile(files, other, async (file) => {
      if (file === undefined) return;
      found.push({ path: other, modifiedMs: file.modifiedMs, isMarked: await goesOnFrom(file, mark) });
    });
  }
  found.sort((one, another) => another.modifiedMs - one.modifiedMs);
  return found.slice(0, found.findIndex(({ isMarked }) => isMarked) + 1).map((each) => each.path);
}

async function goesOnFrom(file: PlainFile, { inode, offset, tail }: LogMark): Promise<boolean> {
  if (offset === 0) return file.inode === inode;
  return file.size >= offset && tail.equals(await file.read(offset - tail.length, tail.length));
}

async function withFile<T>(files: Files, path: string, work: (file: PlainFile | undefined) => Promise<T>): Promise<T> {
  const file = await files.openPlain(path);
  try {
    return await work(file);
  } finally {
    await file?.close();
  }
}
