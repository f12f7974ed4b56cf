import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { ObjectType, Oid } from '#sandbox/git-server/objects/oid.ts';

/** What bounds a pushed pack, so that a small request cannot fill the memory. */
export interface PackLimits {
  readonly maxObjects: number;
  readonly maxObjectBytes: number;
  /** All objects together, inflated. */
  readonly maxTotalBytes: number;
}

/** An object as the pack holds it: whole, or as a delta to a base in the same pack (`at`) or anywhere (`oid`). */
export interface PackEntry {
  /** Where the entry starts in the pack, bytes. */
  readonly at: number;
  readonly body: Buffer;
  readonly form:
    | { readonly is: 'whole'; readonly type: ObjectType }
    | { readonly is: 'delta'; readonly base: { readonly at: number } | { readonly oid: Oid } };
}

const WHOLE: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFS_DELTA = 6;
const REF_DELTA = 7;

/**
 * Takes a pack apart (gitformat-pack): checks its checksum, inflates each entry within the limits.
 *
 * @throws GitServerError `GIT_PACK_INVALID`
 */
export function readEntries(pack: Buffer, limits: PackLimits): readonly PackEntry[] {
  if (pack.length < 32 || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2) {
    throw invalid('not a version 2 pack');
  }
  const content = pack.subarray(0, -20);
  if (!createHash('sha1').update(content).digest().equals(pack.subarray(-20))) throw invalid('pack checksum mismatch');
  const count = pack.readUInt32BE(8);
  if (count > limits.maxObjects) throw invalid(`pack has ${count} objects, at most ${limits.maxObjects} are taken`);

  const entries: PackEntry[] = [];
  let at = 12;
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    const { entry, end } = readEntry(content, at, limits);
    total += entry.body.length;
    if (total > limits.maxTotalBytes) throw invalid(`pack holds more than ${limits.maxTotalBytes} bytes`);
    entries.push(entry);
    at = end;
  }
  if (at !== content.length) throw invalid('pack has bytes after its last object');
  return entries;
}

function readEntry(content: Buffer, at: number, limits: PackLimits): { entry: PackEntry; end: number } {
  const header = readHeader(content, at);
  if (header.size > limits.maxObjectBytes) {
    throw invalid(`pack holds an object of ${header.size} bytes, at most ${limits.maxObjectBytes} are taken`);
  }
  const { form, end } = readForm(content, at, header);
  const inflated = inflateAt(content, end, header.size);
  return { entry: { at, body: inflated.body, form }, end: end + inflated.consumed };
}

interface EntryHeader {
  readonly type: number;
  readonly size: number;
  readonly end: number;
}

function readHeader(content: Buffer, start: number): EntryHeader {
  const first = byteAt(content, start);
  let size = first & 0x0f;
  let at = start + 1;
  for (let weight = 16, byte = first; (byte & 0x80) !== 0; weight *= 128) {
    byte = byteAt(content, at);
    size += (byte & 0x7f) * weight;
    at += 1;
    if (at > start + 10) throw invalid('an object has an impossible size');
  }
  return { type: (first >> 4) & 0x07, size, end: at };
}

function readForm(content: Buffer, at: number, header: EntryHeader): { form: PackEntry['form']; end: number } {
  const type = WHOLE[header.type];
  if (type !== undefined) return { form: { is: 'whole', type }, end: header.end };
  if (header.type === REF_DELTA) {
    const oid = content.toString('hex', header.end, header.end + 20);
    return { form: { is: 'delta', base: { oid } }, end: header.end + 20 };
  }
  if (header.type !== OFS_DELTA) throw invalid(`an object has the unknown type ${header.type}`);
  const back = readOffset(content, header.end);
  return { form: { is: 'delta', base: { at: at - back.distance } }, end: back.end };
}

/** Seven bits a byte, the highest first; each continuation adds one, so that no distance has two spellings. */
function readOffset(content: Buffer, start: number): { distance: number; end: number } {
  let at = start;
  let byte = byteAt(content, at);
  let distance = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    at += 1;
    if (at > start + 6) throw invalid('a delta names an impossible base');
    byte = byteAt(content, at);
    distance = (distance + 1) * 128 + (byte & 0x7f);
  }
  return { distance, end: at + 1 };
}

function inflateAt(content: Buffer, at: number, size: number): { body: Buffer; consumed: number } {
  // One byte of room to spare: zlib then ends in one pass, and a stream longer than its header says runs into the limit.
  const options = { info: true, chunkSize: Math.max(64, size + 1), maxOutputLength: Math.max(1, size) };
  try {
    // With `info` Node gives the engine too, which knows where the stream ended; its types do not say so.
    const { buffer, engine } = inflateSync(content.subarray(at), options) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (buffer.length !== size) throw invalid('an object is shorter than its header says');
    return { body: buffer, consumed: engine.bytesWritten };
  } catch (error) {
    if (error instanceof GitServerError) throw error;
    throw new GitServerError('GIT_PACK_INVALID', 'an object of the pack cannot be inflated', { cause: error });
  }
}

function byteAt(content: Buffer, at: number): number {
  const byte = content[at];
  if (byte === undefined) throw invalid('pack is cut short');
  return byte;
}

const invalid = (message: string) => new GitServerError('GIT_PACK_INVALID', message);
