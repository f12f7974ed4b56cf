import { inflateSync } from 'node:zlib';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError } from '../errors.ts';
import { readSize } from './varint.ts';

/** An object as a pack has it: whole, or a delta on another one (gitformat-pack). */
export interface PackEntry {
  /** Of the whole object; null for a delta, which is of its base's type. */
  readonly type: 'commit' | 'tree' | 'blob' | 'tag' | null;
  /** What a delta is on: an object of the same pack, by place or by name. */
  readonly base: { readonly at: number } | { readonly oid: string } | null;
  /** Bytes of what is deflated, as the header has it. */
  readonly size: number;
  readonly bodyAt: number;
}

const WHOLE: Readonly<Record<number, PackEntry['type']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;
const OID_BYTES = 20;
/** zlib takes no smaller chunk. */
const LEAST_CHUNK = 64;

/** @throws GitError `GIT_DAMAGED` */
export function readEntry(pack: Buffer, start: number): PackEntry {
  const kind = ((pack[start] ?? 0) >> 4) & 7;
  const { value: size, end } = readSize(pack, start, 4);
  if (kind === OFFSET_DELTA) {
    const { distance, end: bodyAt } = readDistance(pack, end);
    return { type: null, base: { at: start - distance }, size, bodyAt };
  }
  if (kind === REFERENCE_DELTA) {
    const bodyAt = end + OID_BYTES;
    return { type: null, base: { oid: pack.toString('hex', end, bodyAt) }, size, bodyAt };
  }
  const type = WHOLE[kind];
  if (type === undefined) throw damagedPack(`an object has the unknown type ${kind}`);
  return { type, base: null, size, bodyAt: end };
}

function readDistance(pack: Buffer, at: number): { readonly distance: number; readonly end: number } {
  let byte = pack[at] ?? 0;
  let distance = byte & 0x7f;
  let end = at + 1;
  while (byte & 0x80) {
    byte = pack[end] ?? 0;
    distance = (distance + 1) * 128 + (byte & 0x7f);
    end += 1;
    if (end - at > 8) throw damagedPack('the base of a delta is nowhere');
  }
  return { distance, end };
}

/** What `info: true` makes of zlib's answer, which the types do not know. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/**
 * What is deflated in an entry.
 *
 * @returns `end`: where the next entry begins
 * @throws GitError `GIT_DAMAGED` if its size is not that of its header
 */
export function inflateEntry(pack: Buffer, entry: PackEntry): { readonly content: Buffer; readonly end: number } {
  const { size, bodyAt } = entry;
  // Deflating may make things longer, but not twice as long: what goes on and on without giving anything is cut off.
  const deflated = pack.subarray(bodyAt, bodyAt + 2 * size + 1024);
  const { buffer, engine } = inflate(deflated, size);
  if (buffer.length !== size) throw damagedPack('an object is longer or shorter than it says');
  return { content: buffer, end: bodyAt + engine.bytesWritten };
}

function inflate(deflated: Buffer, size: number): Inflated {
  try {
    // By default each object takes 16 KiB at once, however small it is: half a gigabyte to be collected, for a large pack.
    const options = { info: true, maxOutputLength: Math.max(1, size), chunkSize: Math.max(LEAST_CHUNK, size) };
    return inflateSync(deflated, options) as unknown as Inflated;
  } catch (error) {
    throw damagedPack(`an object cannot be unpacked (${codeOf(error) ?? 'no reason given'})`);
  }
}

/** The error for what no git server sends that means well. */
export function damagedPack(why: string): GitError {
  return new GitError('GIT_DAMAGED', `what the git server sent is damaged: ${why}`);
}
