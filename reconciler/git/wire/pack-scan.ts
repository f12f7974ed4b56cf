import { createHash } from 'node:crypto';
import { GitError } from '../errors.ts';
import type { GitLimits } from '../git-limits.ts';
import { createEventLoopYield, SLICE_BYTES, type YieldAfterWork } from '../event-loop-yield.ts';
import { damagedPack, inflateEntry, readEntry } from './pack-entry.ts';
import { readSize } from './varint.ts';

export type PackLimits = Pick<GitLimits, 'objects' | 'objectBytes' | 'inflatedBytes'>;

const HEADER_BYTES = 12;
const SUM_BYTES = 20;

/**
 * Goes through a pack before anything else sees it: its checksum, and the size of each object as its header has it, so
 * that a small pack of huge objects is refused before it is unpacked.
 *
 * @throws GitError `GIT_DAMAGED`, `GIT_TOO_BIG`
 */
export async function scanPack(pack: Buffer, limits: PackLimits): Promise<{ readonly objects: number }> {
  const spend = createEventLoopYield();
  const end = pack.length - SUM_BYTES;
  if (end < HEADER_BYTES || pack.toString('latin1', 0, 4) !== 'PACK') throw damagedPack('it is not a pack');
  if (pack.readUInt32BE(4) !== 2) throw damagedPack(`its version is ${pack.readUInt32BE(4)}`);
  if (!(await sumOf(pack.subarray(0, end), spend)).equals(pack.subarray(end)))
    throw damagedPack('its checksum is wrong');
  const objects = pack.readUInt32BE(8);
  if (objects > limits.objects) throw tooBig(`${objects} objects, and at most ${limits.objects} are read`);
  const starts = new Set<number>();
  let at = HEADER_BYTES;
  let inflated = 0;
  for (let index = 0; index < objects; index += 1) {
    const object = scanObject(pack.subarray(0, end), at, starts, limits);
    starts.add(at);
    at = object.end;
    inflated += object.bytes;
    if (inflated > limits.inflatedBytes) throw tooBig(`more than ${limits.inflatedBytes} bytes in all, unpacked`);
    const pause = spend(object.bytes);
    if (pause !== undefined) await pause;
  }
  if (at !== end) throw damagedPack('something stands behind its last object');
  return { objects };
}

async function sumOf(content: Buffer, spend: YieldAfterWork): Promise<Buffer> {
  const hash = createHash('sha1');
  for (let at = 0; at < content.length; at += SLICE_BYTES) {
    const slice = content.subarray(at, at + SLICE_BYTES);
    hash.update(slice);
    const pause = spend(slice.length);
    if (pause !== undefined) await pause;
  }
  return hash.digest();
}

interface Scanned {
  readonly end: number;
  /** All that it takes to have it: for a delta, that and the object that it becomes. */
  readonly bytes: number;
}

function scanObject(pack: Buffer, start: number, starts: ReadonlySet<number>, limits: PackLimits): Scanned {
  const entry = readEntry(pack, start);
  check(entry.size, limits);
  // It has to stand before: a delta on itself would be resolved forever.
  if (entry.base !== null && 'at' in entry.base && !starts.has(entry.base.at)) {
    throw damagedPack('the base of a delta is nowhere');
  }
  const { content, end } = inflateEntry(pack, entry);
  if (entry.base === null) return { end, bytes: entry.size };
  const ofBase = readSize(content, 0, 7);
  const ofResult = readSize(content, ofBase.end, 7);
  check(ofResult.value, limits);
  return { end, bytes: entry.size + ofResult.value };
}

function check(bytes: number, { objectBytes }: PackLimits): void {
  if (bytes > objectBytes) throw tooBig(`an object of ${bytes} bytes, and at most ${objectBytes} are read`);
}

function tooBig(what: string): GitError {
  return new GitError(
    'GIT_TOO_BIG',
    `the commit is too big for a config repository: it holds ${what}; keep other things elsewhere ` +
      '(git ls-tree -r -l <branch> shows sizes)',
  );
}
