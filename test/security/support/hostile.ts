import assert from 'node:assert/strict';
import { fc } from '../../support/property.ts';
import { GitopsError } from '#shared/runtime/errors.ts';

/** No foreign bytes may keep a program busy for longer. Of the thread's own work: others on the machine do not count. */
const LONGEST_MS = 5_000;

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  'metadata',
  'status',
  'items',
];
const NUMBERS = [-0, -1, 0.5, 2 ** 31, 2 ** 53, 1e308, Number.MIN_VALUE];
const TEXTS = [
  '\u0000',
  '\u202e',
  '../../etc/passwd',
  '${PATH}',
  '%s%n',
  '9'.repeat(400),
  'a'.repeat(5_000),
  '🙂',
  '2026-99-99T99:99:99Z',
];

/** JSON as nobody would write it who meant well. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, ...NUMBERS, ...TEXTS),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })), tie('value')), { maxLength: 4 })
      // By way of text, as it comes over the wire: then __proto__ is a key like any other.
      .map(
        (entries) =>
          JSON.parse(
            `{${entries.map(([key, of]) => `${JSON.stringify(key)}:${JSON.stringify(of)}`).join(',')}}`,
          ) as unknown,
      ),
  ),
})).value;

/** A right value in which one to three places hold something else, or are gone. */
export function grafted(right: unknown): fc.Arbitrary<unknown> {
  const places = pathsIn(right);
  const graft = fc.record({ path: fc.constantFrom(...places), scion: hostileJson, gone: fc.boolean() });
  return fc
    .array(graft, { minLength: 1, maxLength: 3 })
    .map((grafts) =>
      grafts.reduce<unknown>((tree, { path, scion, gone }) => replaced(tree, path, gone ? undefined : scion), right),
    );
}

type Path = readonly (string | number)[];

function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => pathsIn(child, [...path, key]))];
}

function replaced(tree: unknown, [key, ...rest]: Path, scion: unknown): unknown {
  if (key === undefined) return scion;
  if (typeof tree !== 'object' || tree === null) return tree;
  const copy = (Array.isArray(tree) ? [...(tree as unknown[])] : { ...tree }) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, scion);
  if (copy[key] === undefined) delete copy[key];
  return copy;
}

/** Bytes with bits turned over, pieces cut out, doubled, or put in. */
export function damaged(right: Uint8Array): fc.Arbitrary<Buffer> {
  const wound = fc.record({ at: fc.nat(right.length), length: fc.nat(40), put: fc.uint8Array({ maxLength: 12 }) });
  return fc
    .array(wound, { minLength: 1, maxLength: 4 })
    .map((wounds) =>
      wounds.reduce(
        (bytes, { at, length, put }) =>
          Buffer.concat([
            bytes.subarray(0, at),
            put,
            bytes.subarray(Math.min(bytes.length, at + (length % 7 === 0 ? length : put.length))),
          ]),
        Buffer.from(right),
      ),
    );
}

/**
 * Reads something foreign: what comes of it is a value, or an error of ours that says what is wrong. Anything else fails:
 * an error of the language, a long time, or a mark left on what all objects share.
 */
export async function survives<T>(read: () => T | Promise<T>): Promise<T | GitopsError> {
  const before = process.threadCpuUsage();
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof GitopsError)) throw error;
    assert.notEqual(error.message, '');
    return error;
  } finally {
    const { user, system } = process.threadCpuUsage(before);
    const tookMs = (user + system) / 1000;
    assert.ok(tookMs < LONGEST_MS, `it took ${Math.round(tookMs)} ms of work`);
    assert.deepEqual(Object.keys(Object.prototype), [], 'something was written on Object.prototype');
    assert.equal(({} as { readonly polluted?: unknown }).polluted, undefined);
  }
}
