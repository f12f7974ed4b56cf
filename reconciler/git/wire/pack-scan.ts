import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inflateSync } from 'node:zlib';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError, UNTIL_NEW_COMMIT } from '../errors.ts';
import type { GitLimits } from '../limits.ts';
import { readSize } from './varint.ts';

export type PackLimits = Pick<GitLimits, 'objects' | 'objectBytes' | 'inflatedBytes'>;

/** zlib takes no smaller chunk. */
const LEAST_CHUNK = 64;
const HEADER_BYTES = 12;
const SUM_BYTES = 20;
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;
const TYPES: ReadonlySet<number> = new Set([1, 2, 3, 4, OFFSET_DELTA, REFERENCE_DELTA]);
/** So many objects in a row, then others get a turn: a lease is to be renewed meanwhile. */
const OBJECTS_A_TURN = 500;

/**
 * Goes through a pack before anything else sees it: its checksum, and the size of each object as its header has it, so
 * that a small pack of huge objects is refused before it is unpacked.
 *
 * @throws GitError `GIT_DAMAGED`, `GIT_TOO_BIG`
 */
export async function scanPack(pack: Buffer, limits: PackLimits): Promise<{ readonly objects: number }> {
  const end = pack.length - SUM_BYTES;
  if (end < HEADER_BYTES || pack.toString('latin1', 0, 4) !== 'PACK') throw damaged('it is no pack');
  if (pack.readUInt32BE(4) !== 2) throw damaged(`its version is ${pack.readUInt32BE(4)}`);
  if (!createHash('sha1').update(pack.subarray(0, end)).digest().equals(pack.subarray(end))) {
    throw damaged('its checksum is wrong');
  }
  const objects = pack.readUInt32BE(8);
  if (objects > limits.objects) throw tooBig(`${objects} objects, and at most ${limits.objects} are read`);
  const starts = new Set<number>();
  let at = HEADER_BYTES;
  let inflated = 0;
  for (let index = 0; index < objects; index += 1) {
    if (index % OBJECTS_A_TURN === OBJECTS_A_TURN - 1) await nextTurn();
    const object = scanObject(pack.subarray(0, end), at, starts, limits);
    starts.add(at);
    at = object.end;
    inflated += object.bytes;
    if (inflated > limits.inflatedBytes) throw tooBig(`more than ${limits.inflatedBytes} bytes in all, unpacked`);
  }
  if (at !== end) throw damaged('something stands behind its last object');
  return { objects };
}

interface Scanned {
  readonly end: number;
  /** Of the object that it becomes, for a delta. */
  readonly bytes: number;
}

function scanObject(pack: Buffer, start: number, starts: ReadonlySet<number>, limits: PackLimits): Scanned {
  const type = ((pack[start] ?? 0) >> 4) & 7;
  if (!TYPES.has(type)) throw damaged(`an object has the unknown type ${type}`);
  const { value: declared, end: afterSize } = readSize(pack, start, 4);
  check(declared, limits);
  const bodyAt = afterBase(pack, type, start, afterSize, starts);
  const { content, used } = inflate(pack.subarray(bodyAt), declared);
  if (content.length !== declared) throw damaged('an object is longer or shorter than it says');
  const end = bodyAt + used;
  if (type !== OFFSET_DELTA && type !== REFERENCE_DELTA) return { end, bytes: declared };
  const ofBase = readSize(content, 0, 7);
  const ofResult = readSize(content, ofBase.end, 7);
  check(ofResult.value, limits);
  return { end, bytes: Math.max(declared, ofResult.value) };
}

/** Where the deflated bytes begin. A delta's base has to stand before it: one on itself would be resolved for ever. */
function afterBase(pack: Buffer, type: number, start: number, at: number, starts: ReadonlySet<number>): number {
  if (type === REFERENCE_DELTA) return at + SUM_BYTES;
  if (type !== OFFSET_DELTA) return at;
  let byte = pack[at] ?? 0;
  let distance = byte & 0x7f;
  let next = at + 1;
  while (byte & 0x80) {
    byte = pack[next] ?? 0;
    distance = (distance + 1) * 128 + (byte & 0x7f);
    next += 1;
    if (next - at > 8) throw damaged('the base of a delta is nowhere');
  }
  if (!starts.has(start - distance)) throw damaged('the base of a delta is nowhere');
  return next;
}

/** What `info: true` makes of zlib's answer, which the types do not know. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function inflate(bytes: Buffer, declared: number): { readonly content: Buffer; readonly used: number } {
  try {
    // By default each object takes 16 KiB at once, however small it is: half a gigabyte to be collected, for a large pack.
    const options = { info: true, maxOutputLength: Math.max(1, declared), chunkSize: Math.max(LEAST_CHUNK, declared) };
    const { buffer, engine } = inflateSync(bytes, options) as unknown as Inflated;
    return { content: buffer, used: engine.bytesWritten };
  } catch (error) {
    throw damaged(`an object cannot be unpacked (${codeOf(error) ?? 'no reason given'})`);
  }
}

function check(bytes: number, { objectBytes }: PackLimits): void {
  if (bytes > objectBytes) throw tooBig(`an object of ${bytes} bytes, and at most ${objectBytes} are read`);
}

function damaged(why: string): GitError {
  return new GitError('GIT_DAMAGED', `what the git server sent is damaged: ${why}`);
}

function tooBig(what: string): GitError {
  return new GitError(
    'GIT_TOO_BIG',
    `the commit is too big for a config repository: it holds ${what}; keep other things elsewhere ` +
      '(git ls-tree -r -l <branch> shows sizes)',
    { disposition: UNTIL_NEW_COMMIT },
  );
}
