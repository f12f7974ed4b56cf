import { type DBusType, alignmentOf, parseSignature, parseSingle } from './type-signature.ts';
import { type DBusValue, mismatch, type Variant } from './value.ts';

/** Bytes in the making, little-endian. */
interface Output {
  bytes: Buffer;
  length: number;
}

/**
 * Values as D-Bus sends them, little-endian.
 *
 * @throws GitopsError BUS_PROTOCOL where a value does not fit its type
 */
export function marshal(signature: string, values: readonly DBusValue[]): Buffer {
  const types = parseSignature(signature);
  if (types.length !== values.length) throw mismatch(`${types.length} values (${signature})`, values);
  const output: Output = { bytes: Buffer.alloc(256), length: 0 };
  for (const [index, type] of types.entries()) write(output, type, values[index]);
  return output.bytes.subarray(0, output.length);
}

function write(output: Output, type: DBusType, value: DBusValue | undefined): void {
  align(output, alignmentOf(type));
  if (type.kind === 'basic') return writeBasic(output, type.code, value);
  if (type.kind === 'variant') return writeVariant(output, value);
  if (type.kind === 'struct') {
    if (!Array.isArray(value) || value.length !== type.fields.length) throw mismatch('a struct', value);
    for (const [index, field] of type.fields.entries()) write(output, field, value[index]);
    return;
  }
  writeArray(output, type, value);
}

/** Its length in bytes comes first and does not count the padding before the first item. */
function writeArray(output: Output, type: DBusType & { kind: 'array' | 'dictionary' }, value: unknown): void {
  const lengthAt = reserve(output, 4);
  align(output, type.kind === 'dictionary' ? 8 : alignmentOf(type.item));
  const start = output.length;
  if (type.kind === 'dictionary') {
    if (!(value instanceof Map)) throw mismatch('a map', value);
    for (const [key, item] of value as ReadonlyMap<DBusValue, DBusValue>) {
      align(output, 8);
      write(output, type.key, key);
      write(output, type.value, item);
    }
  } else {
    const isItems = Array.isArray(value) || value instanceof Uint8Array;
    if (!isItems) throw mismatch('an array', value);
    for (const item of value as Iterable<DBusValue>) write(output, type.item, item);
  }
  output.bytes.writeUInt32LE(output.length - start, lengthAt);
}

function writeVariant(output: Output, value: unknown): void {
  if (typeof value !== 'object' || value === null || !('signature' in value)) throw mismatch('a variant', value);
  const { signature, value: inner } = value as Variant;
  writeBasic(output, 'g', signature);
  write(output, parseSingle(signature), inner);
}

function writeBasic(output: Output, code: string, value: unknown): void {
  if (code === 's' || code === 'o' || code === 'g') return writeText(output, code, value);
  if (code === 'b') {
    if (typeof value !== 'boolean') throw mismatch('a boolean', value);
    return writeUInt32(output, value ? 1 : 0);
  }
  const at = reserve(
    output,
    code === 'y' ? 1 : code === 'n' || code === 'q' ? 2 : code === 'i' || code === 'u' ? 4 : 8,
  );
  try {
    writeNumber(output.bytes, code, value, at);
  } catch (error) {
    throw error instanceof RangeError || error instanceof TypeError ? mismatch(`a number (${code})`, value) : error;
  }
}

function writeNumber(bytes: Buffer, code: string, value: unknown, at: number): void {
  if (code === 'x') bytes.writeBigInt64LE(value as bigint, at);
  else if (code === 't') bytes.writeBigUInt64LE(value as bigint, at);
  else if (typeof value !== 'number') throw new TypeError('not a number');
  else if (code === 'd') bytes.writeDoubleLE(value, at);
  else if (!Number.isInteger(value)) throw new TypeError('not a whole number');
  else if (code === 'y') bytes.writeUInt8(value, at);
  else if (code === 'n') bytes.writeInt16LE(value, at);
  else if (code === 'q') bytes.writeUInt16LE(value, at);
  else if (code === 'i') bytes.writeInt32LE(value, at);
  else bytes.writeUInt32LE(value, at);
}

function writeText(output: Output, code: string, value: unknown): void {
  if (typeof value !== 'string' || value.includes('\0')) throw mismatch('text', value);
  const text = Buffer.from(value);
  if (code === 'g') writeBasic(output, 'y', text.length);
  else writeUInt32(output, text.length);
  const at = reserve(output, text.length + 1);
  text.copy(output.bytes, at);
}

function writeUInt32(output: Output, value: number): void {
  const at = reserve(output, 4);
  output.bytes.writeUInt32LE(value, at);
}

const align = (output: Output, to: number): void => void reserve(output, (to - (output.length % to)) % to);

/** Zero bytes at the end. @returns where they begin; `output.bytes` may be another buffer afterwards */
function reserve(output: Output, bytes: number): number {
  const at = output.length;
  output.length += bytes;
  if (output.length > output.bytes.length) {
    const bigger = Buffer.alloc(Math.max(output.length, output.bytes.length * 2));
    output.bytes.copy(bigger);
    output.bytes = bigger;
  }
  return at;
}
