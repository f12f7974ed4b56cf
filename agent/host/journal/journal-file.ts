import { zstdDecompressSync } from 'node:zlib';
import type { Millis } from '#shared/runtime/clock.ts';
import type { ReadAt } from './blocks.ts';
import { unpackLz4 } from './lz4.ts';

/** One line of a journal: what was asked for of its fields, by name. */
export interface JournalEntry {
  /** By the machine's wall clock then. */
  readonly at: Millis;
  readonly fields: ReadonlyMap<string, string>;
}

// Offsets and sizes as systemd writes them (src/libsystemd/sd-journal/journal-def.h), all little-endian.
const HEADER_BYTES = 208;
const OBJECT_BYTES = 16;
const ENTRY_BYTES = 64;
const ARRAY_BYTES = 24;
const FIELD_BYTES = 40;
/** What systemd wrote before 246. */
const LZ4 = 2;
const ZSTD = 4;
const COMPRESSED = 1 | LZ4 | ZSTD;
const COMPACT = 16;
/** XZ, LZ4, keyed hashes, ZSTD and compact. A file with any other flag may have another layout, and is not read. */
const KNOWN_FLAGS = 31;

/** What is read of one value: the kubelet's longest lines are a few hundred characters. */
const MOST_VALUE_BYTES = 4096;
const MOST_PACKED_BYTES = 64 * 1024;
/** Characters. Many entries share short values; all long ones of a file would be more than an agent may use. */
const MOST_KEPT = 64;
/** Each of them is at least twice as long as the one before. */
const MOST_ARRAYS = 100;
/** A damaged chain may lead back to its start. */
const MOST_LINKS = 10_000;

/**
 * The entries of a journal file that have exactly this value of a field, the newest first, as far as the file is in order.
 * Values that are compressed with XZ are left out.
 *
 * No hash is computed: a file's fields are few, and each leads to all of its values.
 *
 * @param names which of their fields are read
 * @throws Error where the file is damaged, of another kind, or larger than the reader wants; before the first entry also where
 *   journald wrote to it meanwhile
 */
export async function* entriesBackwards(
  read: ReadAt,
  field: string,
  value: string,
  names: readonly string[],
): AsyncGenerator<JournalEntry> {
  const header = await read(0, HEADER_BYTES);
  const flags = header.length < HEADER_BYTES ? -1 : header.readUInt32LE(12);
  if (header.toString('latin1', 0, 8) !== 'LPKSHHRH' || (flags & ~KNOWN_FLAGS) !== 0) throw new Error('no journal');
  const file: File = { read, isCompact: (flags & COMPACT) !== 0 };
  const data = await findData(file, number(header, 120), number(header, 128), field, value);
  if (data === undefined) return;
  const known = new Map<number, readonly [string, string] | undefined>();
  for await (const offset of entryOffsets(file, data)) {
    const entry = await read(offset, ENTRY_BYTES);
    const size = number(entry, 8);
    // Journald goes on writing: the entry is newer than the block that was read of it.
    if (size <= ENTRY_BYTES) continue;
    const step = file.isCompact ? 4 : 16;
    const items = await read(offset + ENTRY_BYTES, Math.min(size - ENTRY_BYTES, MOST_VALUE_BYTES));
    const fields = new Map<string, string>();
    for (let at = 0; at + step <= items.length; at += step) {
      const item = itemAt(file, items, at);
      const found = known.has(item) ? known.get(item) : await fieldAt(file, item, names);
      if (found === undefined || found[1].length <= MOST_KEPT) known.set(item, found);
      if (found !== undefined) fields.set(...found);
    }
    yield { at: number(entry, 24) / 1000, fields };
  }
}

interface File {
  readonly read: ReadAt;
  /** From systemd 252 on: offsets of four bytes. */
  readonly isCompact: boolean;
}

const number = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at));

const itemAt = ({ isCompact }: File, items: Buffer, at: number): number =>
  isCompact ? items.readUInt32LE(at) : number(items, at);

/**
 * The object, unless its block was read before journald wrote it. Then it seems to end its chain, and what comes behind it, all
 * entries perhaps, would be missing.
 *
 * @throws Error
 */
function written(object: Buffer): Buffer {
  if (number(object, 8) === 0) throw new Error('journald was still writing');
  return object;
}

/** Where the object with this value of the field is. */
async function findData(
  file: File,
  table: number,
  tableBytes: number,
  field: string,
  value: string,
): Promise<number | undefined> {
  const { read } = file;
  let links = 0;
  for (let bucket = 0; bucket < tableBytes; bucket += 16) {
    for (let at = number(await read(table + bucket, 8), 0); at !== 0 && links < MOST_LINKS; links += 1) {
      const head = written(await read(at, FIELD_BYTES + field.length));
      const isIt = number(head, 8) === head.length && head.toString('utf8', FIELD_BYTES) === field;
      if (isIt) return findValue(file, number(head, 32), `${field}=${value}`);
      at = number(head, 24);
    }
  }
  return undefined;
}

async function findValue(file: File, first: number, payload: string): Promise<number | undefined> {
  const wanted = Buffer.from(payload, 'utf8');
  let at = first;
  for (let links = 0; at !== 0 && links < MOST_LINKS; links += 1) {
    const head = written(await file.read(at, payloadAt(file) + wanted.length));
    if (number(head, 8) === head.length && head.subarray(payloadAt(file)).equals(wanted)) return at;
    at = number(head, 32);
  }
  return undefined;
}

const payloadAt = ({ isCompact }: File): number => (isCompact ? 72 : 64);

/** Where the entries are that have it, the newest first: the first stands by itself, the others in a chain of lists. */
async function* entryOffsets(file: File, data: number): AsyncGenerator<number> {
  const { read, isCompact } = file;
  const head = await read(data, 64);
  const step = isCompact ? 4 : 8;
  const lists: { readonly at: number; readonly length: number }[] = [];
  for (let at = number(head, 48); at !== 0 && lists.length < MOST_ARRAYS;) {
    const list = written(await read(at, ARRAY_BYTES));
    lists.push({ at: at + ARRAY_BYTES, length: Math.floor((number(list, 8) - ARRAY_BYTES) / step) });
    at = number(list, OBJECT_BYTES);
  }
  for (const { at, length } of lists.toReversed()) {
    for (let index = length - 1; index >= 0; index -= 1) {
      const item = await read(at + index * step, step);
      const offset = isCompact ? item.readUInt32LE(0) : number(item, 0);
      // The last list has room for more.
      if (offset !== 0) yield offset;
    }
  }
  yield number(head, 40);
}

/** Name and value, where the name is one of those. */
async function fieldAt(
  file: File,
  offset: number,
  names: readonly string[],
): Promise<readonly [string, string] | undefined> {
  const head = await file.read(offset, OBJECT_BYTES);
  const compressed = (head[1] ?? 0) & COMPRESSED;
  const most = compressed === 0 ? MOST_VALUE_BYTES : MOST_PACKED_BYTES;
  const bytes = await file.read(offset + payloadAt(file), Math.min(number(head, 8) - payloadAt(file), most));
  const payload = compressed === 0 ? bytes : unpack(bytes, compressed);
  const end = payload.indexOf('=');
  const name = payload.toString('latin1', 0, end);
  return names.includes(name) ? [name, payload.toString('utf8', end + 1, end + 1 + MOST_VALUE_BYTES)] : undefined;
}

/** Nothing for a value that is damaged, too long, or packed in another way: other values say more. */
function unpack(bytes: Buffer, packedBy: number): Buffer {
  try {
    if (packedBy === ZSTD) return zstdDecompressSync(bytes, { maxOutputLength: MOST_PACKED_BYTES });
    // Its length stands before it.
    if (packedBy === LZ4) return unpackLz4(bytes.subarray(8), 2 * MOST_VALUE_BYTES);
  } catch {
    // Damaged, or too long.
  }
  return Buffer.alloc(0);
}
