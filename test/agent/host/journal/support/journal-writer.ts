import { zstdCompressSync } from 'node:zlib';

/** Fields of one entry. An array says how its bytes are stored. */
export type Fields = Readonly<Record<string, string>>;

export interface JournalShape {
  /** As systemd writes from 252 on. */
  readonly isCompact: boolean;
  /** Values from this length on are compressed. */
  readonly packFrom?: number;
  /** The object's flag and the header's for it; zstd where it is left out. */
  readonly packedBy?: 1 | 2 | 4;
}

const HEADER_BYTES = 264;
const BUCKETS = 4;

/**
 * A journal file as journald lays it out (journal-file-format), with what a reader from a field to its entries needs: field
 * objects, values and chains of lists of entries. Data hash tables and hashes are left empty.
 */
export function journalOf(
  entries: readonly { readonly at: number; readonly fields: Fields }[],
  { isCompact, packFrom = Infinity, packedBy = 4 }: JournalShape,
): Buffer {
  const parts: Buffer[] = [];
  let end = HEADER_BYTES;
  const put = (type: number, flags: number, body: Buffer): number => {
    const at = end;
    const head = Buffer.alloc(16);
    head.writeUInt8(type, 0);
    head.writeUInt8(flags, 1);
    head.writeBigUInt64LE(BigInt(16 + body.length), 8);
    const whole = Buffer.concat([head, body, Buffer.alloc((8 - ((16 + body.length) % 8)) % 8)]);
    parts.push(whole);
    end += whole.length;
    return at;
  };
  const write = (at: number, value: number): void => void later.push([at, value]);
  const later: [number, number][] = [];
  const numbers = (...values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(8 * values.length);
    values.forEach((value, index) => bytes.writeBigUInt64LE(BigInt(value), 8 * index));
    return bytes;
  };

  const table = put(5, 0, Buffer.alloc(16 * BUCKETS)) + 16;
  const names: string[] = [];
  const fieldAt = new Map<string, number>();
  const lastInBucket = new Map<number, number>();
  const headData = new Map<string, number>();
  const values = new Map<string, { readonly at: number; readonly entries: number[] }>();

  const fieldOf = (name: string): number => {
    const known = fieldAt.get(name);
    if (known !== undefined) return known;
    const at = put(2, 0, Buffer.concat([numbers(0, 0, 0), Buffer.from(name)]));
    const bucket = names.length % BUCKETS;
    const before = lastInBucket.get(bucket);
    write(before === undefined ? table + 16 * bucket : before + 24, at);
    lastInBucket.set(bucket, at);
    names.push(name);
    fieldAt.set(name, at);
    return at;
  };
  const valueOf = (name: string, value: string): { readonly at: number; readonly entries: number[] } => {
    const key = `${name}=${value}`;
    const known = values.get(key);
    if (known !== undefined) return known;
    const isPacked = value.length >= packFrom;
    const payload = isPacked ? pack(Buffer.from(key), packedBy) : Buffer.from(key);
    const next = headData.get(name) ?? 0;
    const head = Buffer.concat([numbers(0, 0, next, 0, 0, 0), Buffer.alloc(isCompact ? 8 : 0)]);
    const at = put(1, isPacked ? packedBy : 0, Buffer.concat([head, payload]));
    headData.set(name, at);
    write(fieldOf(name) + 32, at);
    const made = { at, entries: [] };
    values.set(key, made);
    return made;
  };
  const offsets = (all: readonly number[], width: 4 | 8 | 16, length = all.length): Buffer => {
    const bytes = Buffer.alloc(width * length);
    all.forEach((value, index) => {
      if (width === 4) bytes.writeUInt32LE(value, 4 * index);
      else bytes.writeBigUInt64LE(BigInt(value), width * index);
    });
    return bytes;
  };

  for (const { at, fields } of entries) {
    const made = Object.entries(fields).map(([name, value]) => valueOf(name, value));
    const head = Buffer.concat([numbers(1, at * 1000, 0), Buffer.alloc(16), numbers(0)]);
    const items = offsets(
      made.map((value) => value.at),
      isCompact ? 4 : 16,
    );
    const entry = put(3, 0, Buffer.concat([head, items]));
    for (const value of made) value.entries.push(entry);
  }
  for (const { at, entries: all } of values.values()) {
    const [first = 0, ...rest] = all;
    write(at + 40, first);
    write(at + 56, all.length);
    let link = at + 48;
    // Lists grow, and the last has room for more.
    for (let from = 0, room = 4; from < rest.length; from += room, room *= 2) {
      const list = put(
        6,
        0,
        Buffer.concat([numbers(0), offsets(rest.slice(from, from + room), isCompact ? 4 : 8, room)]),
      );
      write(link, list);
      link = list + 16;
    }
  }

  const header = Buffer.alloc(HEADER_BYTES);
  header.write('LPKSHHRH', 'latin1');
  header.writeUInt32LE((isCompact ? 16 : 0) | (packFrom === Infinity ? 0 : { 1: 1, 2: 2, 4: 8 }[packedBy]), 12);
  header.writeBigUInt64LE(BigInt(table), 120);
  header.writeBigUInt64LE(BigInt(16 * BUCKETS), 128);
  const file = Buffer.concat([header, ...parts]);
  for (const [at, value] of later) file.writeBigUInt64LE(BigInt(value), at);
  return file;
}

/** LZ4 in its plainest form: all of it literals, of which there are more than 15. */
function pack(value: Buffer, packedBy: 1 | 2 | 4): Buffer {
  if (packedBy === 4) return zstdCompressSync(value);
  if (packedBy === 1) return value;
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(value.length));
  const rest = value.length - 15;
  const lengths = Buffer.concat([Buffer.alloc(Math.floor(rest / 255), 255), Buffer.from([rest % 255])]);
  return Buffer.concat([size, Buffer.from([0xf0]), lengths, value]);
}
