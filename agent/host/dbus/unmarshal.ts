import { GitopsError } from '#shared/runtime/errors.ts';
import { alignmentOf, type DBusType, parseSignature, parseSingle } from './type-signature.ts';
import type { DBusValue } from './value.ts';

interface Input {
  readonly bytes: Buffer;
  readonly littleEndian: boolean;
  at: number;
}

/** Variants may hold variants; the specification allows 64 levels in all. */
const MAX_DEPTH = 64;

/**
 * Reads values that lie one after the other from the start of the bytes, in either byte order. Nothing that the other
 * side sends makes it read beyond the end, recurse without end, or allocate more than the bytes are worth.
 *
 * @throws GitopsError BUS_PROTOCOL
 */
export function unmarshal(signature: string, bytes: Buffer, littleEndian: boolean): readonly DBusValue[] {
  const input: Input = { bytes, littleEndian, at: 0 };
  return parseSignature(signature).map((type) => read(input, type, 0));
}

function read(input: Input, type: DBusType, depth: number): DBusValue {
  if (depth > MAX_DEPTH) throw malformed('nests too deep');
  align(input, alignmentOf(type));
  if (type.kind === 'basic') return readBasic(input, type.code);
  if (type.kind === 'struct') return type.fields.map((field) => read(input, field, depth + 1));
  if (type.kind === 'variant') {
    const signature = readText(input, 'g');
    return { signature, value: read(input, parseSingle(signature), depth + 1) };
  }
  return readArray(input, type, depth);
}

function readArray(input: Input, type: DBusType & { kind: 'array' | 'dictionary' }, depth: number): DBusValue {
  const length = readUInt32(input);
  align(input, type.kind === 'dictionary' ? 8 : alignmentOf(type.item));
  const end = input.at + length;
  if (end > input.bytes.length) throw malformed('ends within an array');
  if (type.kind === 'dictionary') return readDictionary(input, type, end, depth);
  if (type.item.kind === 'basic' && type.item.code === 'y') {
    input.at = end;
    return Uint8Array.from(input.bytes.subarray(end - length, end));
  }
  const items: DBusValue[] = [];
  while (input.at < end) items.push(read(input, type.item, depth + 1));
  if (input.at !== end) throw malformed('has an array whose length is wrong');
  return items;
}

function readDictionary(input: Input, type: DBusType & { kind: 'dictionary' }, end: number, depth: number): DBusValue {
  const map = new Map<DBusValue, DBusValue>();
  while (input.at < end) {
    align(input, 8);
    const key = read(input, type.key, depth + 1);
    map.set(key, read(input, type.value, depth + 1));
  }
  if (input.at !== end) throw malformed('has a dictionary whose length is wrong');
  return map;
}

function readBasic(input: Input, code: string): DBusValue {
  if (code === 's' || code === 'o' || code === 'g') return readText(input, code);
  if (code === 'u') return readUInt32(input);
  if (code === 'b') {
    const value = readUInt32(input);
    if (value > 1) throw malformed('has a boolean that is neither true nor false');
    return value === 1;
  }
  return readNumber(input, code);
}

function readNumber(input: Input, code: string): DBusValue {
  const { bytes, littleEndian } = input;
  const at = take(input, code === 'y' ? 1 : code === 'n' || code === 'q' ? 2 : code === 'i' ? 4 : 8);
  if (code === 'y') return bytes.readUInt8(at);
  if (code === 'n') return littleEndian ? bytes.readInt16LE(at) : bytes.readInt16BE(at);
  if (code === 'q') return littleEndian ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
  if (code === 'i') return littleEndian ? bytes.readInt32LE(at) : bytes.readInt32BE(at);
  if (code === 'x') return littleEndian ? bytes.readBigInt64LE(at) : bytes.readBigInt64BE(at);
  if (code === 't') return littleEndian ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at);
  return littleEndian ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at);
}

function readUInt32(input: Input): number {
  const at = take(input, 4);
  return input.littleEndian ? input.bytes.readUInt32LE(at) : input.bytes.readUInt32BE(at);
}

function readText(input: Input, code: string): string {
  const length = code === 'g' ? input.bytes.readUInt8(take(input, 1)) : readUInt32(input);
  const at = take(input, length + 1);
  if (input.bytes[at + length] !== 0) throw malformed('has a text without an end');
  return input.bytes.toString('utf8', at, at + length);
}

function align(input: Input, to: number): void {
  take(input, (to - (input.at % to)) % to);
}

function take(input: Input, bytes: number): number {
  const { at } = input;
  if (at + bytes > input.bytes.length) throw malformed('ends too early');
  input.at += bytes;
  return at;
}

function malformed(how: string): GitopsError {
  return new GitopsError('BUS_PROTOCOL', `a message on the bus ${how}`);
}
