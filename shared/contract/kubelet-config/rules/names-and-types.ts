import type { FieldKind } from '../fields/field.ts';
import { childrenOf, FIELDS, TYPE_FIELDS } from '../fields/fields.ts';
import type { Path } from '../position.ts';
import { isMap } from '../../../runtime/maps.ts';

/** Types as JSON tells them apart. */
export type JsonType = 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object';

/** A place of a config where no version's KubeletConfiguration has what is there. */
export interface SchemaMismatch {
  readonly at: Path;
  readonly value: unknown;
  /** `unknown`: the name. `range`: too far from zero for 32 bits. Otherwise the types that fit. */
  readonly fault: 'unknown' | 'range' | readonly JsonType[];
}

/** What fits into a field that holds one value. 64-bit bounds are judged with the formats. */
const TYPES: Readonly<Partial<Record<FieldKind, readonly JsonType[]>>> = {
  bool: ['boolean'],
  int32: ['integer'],
  int64: ['integer'],
  uint32: ['integer'],
  float: ['number'],
  'duration-or-nanoseconds': ['string', 'integer'],
  quantity: ['string', 'number'],
};

const BOUNDS: Readonly<Partial<Record<FieldKind, readonly [number, number]>>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
};

/**
 * Names and types that do not fit the table of fields, whatever the version; within a struct the unknown names come
 * first. The table itself is read: on a node, a validator made from it would cost more than all of the rules.
 */
export function schemaMismatchesIn(config: Readonly<Record<string, unknown>>): Generator<SchemaMismatch> {
  return inStruct(config, [], '');
}

function* inStruct(struct: Readonly<Record<string, unknown>>, at: Path, pattern: string): Generator<SchemaMismatch> {
  const known = [...(pattern === '' ? TYPE_FIELDS : []), ...childrenOf(pattern)];
  for (const [name, value] of Object.entries(struct)) {
    if (!known.includes(name)) yield { at: [...at, name], value, fault: 'unknown' };
  }
  for (const name of known) {
    if (!Object.hasOwn(struct, name)) continue;
    const below = pattern === '' ? name : `${pattern}.${name}`;
    const { kind, pointer } = FIELDS.get(below) ?? { kind: 'string' };
    const value = struct[name];
    // A duration that is no pointer takes no null: Go's decoder calls its own reader of text even then.
    if (value !== null || (kind === 'duration' && pointer !== true)) yield* inField(value, kind, [...at, name], below);
  }
}

function* inField(value: unknown, kind: FieldKind, at: Path, pattern: string): Generator<SchemaMismatch> {
  const wanted = typesOf(kind);
  if (!wanted.some((type) => isOf(type, value))) yield { at, value, fault: wanted };
  const [least, most] = BOUNDS[kind] ?? [-Infinity, Infinity];
  const number = asNumber(value);
  // Go reads -0 as a number that has a sign.
  const isBelow = number < least || (kind === 'uint32' && Object.is(number, -0));
  if (Number.isFinite(number) && (isBelow || number > most)) yield { at, value, fault: 'range' };
  if (kind === 'struct' && isMap(value)) yield* inStruct(value, at, pattern);
  const [, inner, outer] = /^(.+)-(list|map)$/.exec(kind) ?? [];
  if (inner === undefined) return;
  const isList = outer === 'list';
  for (const [step, item] of isList ? elementsOf(value) : isMap(value) ? Object.entries(value) : []) {
    if (item !== null) yield* inField(item, inner as FieldKind, [...at, step], isList ? `${pattern}[]` : pattern);
  }
}

function typesOf(kind: FieldKind): readonly JsonType[] {
  if (kind.endsWith('-list')) return ['array'];
  return kind === 'struct' || kind.endsWith('-map') ? ['object'] : (TYPES[kind] ?? ['string']);
}

const elementsOf = (value: unknown): readonly (readonly [number, unknown])[] =>
  Array.isArray(value) ? [...value.entries()] : [];

function isOf(type: JsonType, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isMap(value);
  if (type === 'integer') return Number.isInteger(asNumber(value));
  return type === 'number' ? Number.isFinite(asNumber(value)) : typeof value === type;
}

/** Whole numbers beyond 2^53 are bigints. NaN for anything but a number. */
const asNumber = (value: unknown): number =>
  typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? value : Number.NaN;
