import { GitopsError } from '#shared/runtime/errors.ts';

/** Types that are one value, without anything inside. File descriptors (`h`) are never asked for, so they are unknown here. */
const BASIC = 'ybnqiuxtdsog';

export type DBusType =
  | { readonly kind: 'basic'; readonly code: string }
  | { readonly kind: 'variant' }
  | { readonly kind: 'array'; readonly item: DBusType }
  | { readonly kind: 'dictionary'; readonly key: DBusType; readonly value: DBusType }
  | { readonly kind: 'struct'; readonly fields: readonly DBusType[] };

/** D-Bus specification, "Valid Signatures": arrays and structs may nest 32 deep each. */
const MAX_DEPTH = 64;
const MAX_LENGTH = 255;

const ALIGNMENT: Readonly<Record<string, number>> = { y: 1, n: 2, q: 2, b: 4, i: 4, u: 4, s: 4, o: 4, g: 1 };

/** Each value starts at a multiple of this many bytes from the start of its message. */
export function alignmentOf(type: DBusType): number {
  if (type.kind === 'basic') return ALIGNMENT[type.code] ?? 8;
  if (type.kind === 'variant') return 1;
  return type.kind === 'struct' ? 8 : 4;
}

/**
 * Reads a signature such as `sa{sv}` into the types that follow each other.
 *
 * @throws GitopsError BUS_PROTOCOL for anything but a signature, and for unknown types
 */
export function parseSignature(signature: string): readonly DBusType[] {
  if (signature.length > MAX_LENGTH) throw malformed(signature);
  const types: DBusType[] = [];
  let at = 0;
  while (at < signature.length) {
    const [type, next] = parseOne(signature, at, 0);
    types.push(type);
    at = next;
  }
  return types;
}

/** The one type of a variant. */
export function parseSingle(signature: string): DBusType {
  const [type, ...more] = parseSignature(signature);
  if (type === undefined || more.length > 0) throw malformed(signature);
  return type;
}

function parseOne(signature: string, at: number, depth: number): readonly [DBusType, number] {
  const code = signature[at] ?? '';
  if (depth > MAX_DEPTH) throw malformed(signature);
  if (code !== '' && BASIC.includes(code)) return [{ kind: 'basic', code }, at + 1];
  if (code === 'v') return [{ kind: 'variant' }, at + 1];
  if (code === 'a' && signature[at + 1] === '{') return parseDictionary(signature, at + 2, depth + 1);
  if (code === 'a') {
    const [item, next] = parseOne(signature, at + 1, depth + 1);
    return [{ kind: 'array', item }, next];
  }
  if (code === '(') return parseStruct(signature, at + 1, depth + 1);
  throw malformed(signature);
}

function parseDictionary(signature: string, at: number, depth: number): readonly [DBusType, number] {
  const [key, afterKey] = parseOne(signature, at, depth);
  const [value, end] = parseOne(signature, afterKey, depth);
  if (key.kind !== 'basic' || signature[end] !== '}') throw malformed(signature);
  return [{ kind: 'dictionary', key, value }, end + 1];
}

function parseStruct(signature: string, start: number, depth: number): readonly [DBusType, number] {
  const fields: DBusType[] = [];
  let at = start;
  while (signature[at] !== ')') {
    const [field, next] = parseOne(signature, at, depth);
    fields.push(field);
    at = next;
  }
  if (fields.length === 0) throw malformed(signature);
  return [{ kind: 'struct', fields }, at + 1];
}

function malformed(signature: string): GitopsError {
  return new GitopsError(
    'BUS_PROTOCOL',
    `"${signature.slice(0, MAX_LENGTH)}" is not a D-Bus signature that is known here`,
  );
}
