import { createHash } from 'node:crypto';
import { isMap } from '#shared/runtime/maps.ts';

/** From the root of a value to something in it; `[]` stands for every element of a list. */
export type FieldPath = readonly string[];

/** What an API server made of a value that was written. */
interface FieldDiff {
  /** What it left out, as it does with fields that its definition of the kind does not know. */
  readonly dropped: readonly FieldPath[];
  /** What it has otherwise: defaults that it added, and what a webhook changed. */
  readonly changed: readonly FieldPath[];
}

/** Compares what was sent with what the answer holds. Pure. */
export function diffFields(sent: unknown, made: unknown): FieldDiff {
  const dropped = new Map<string, FieldPath>();
  const changed = new Map<string, FieldPath>();
  const note = (into: Map<string, FieldPath>, path: FieldPath): void => void into.set(fieldNameOf(path), path);
  const compare = (before: unknown, after: unknown, path: FieldPath): void => {
    if (before === undefined && after === undefined) return;
    if (after === undefined) return note(dropped, path);
    if (isMap(before) && isMap(after)) {
      const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
      for (const key of keys) compare(before[key], after[key], [...path, key]);
    } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
      for (const [index, each] of before.entries()) compare(each, after[index], [...path, '[]']);
    } else if (before !== after) note(changed, path);
  };
  compare(sent, made, []);
  return { dropped: [...dropped.values()], changed: [...changed.values()] };
}

/** `rollout.waves[].startedAt`. */
export const fieldNameOf = (path: FieldPath): string => path.join('.').replaceAll('.[]', '[]');

/** The value without these fields. Pure. */
export function withoutFields(value: unknown, paths: readonly FieldPath[]): unknown {
  if (paths.length === 0) return value;
  if (Array.isArray(value)) {
    const inside = below(paths, '[]');
    return value.map((each) => withoutFields(each, inside));
  }
  if (!isMap(value)) return value;
  const gone = new Set(paths.filter(({ length }) => length === 1).map(([key]) => key));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !gone.has(key))
      .map(([key, each]) => [key, withoutFields(each, below(paths, key))]),
  );
}

const below = (paths: readonly FieldPath[], key: string): readonly FieldPath[] =>
  paths.filter(([first, ...rest]) => first === key && rest.length > 0).map(([, ...rest]) => rest);

/** The same text for equal values, whatever the order of their keys. */
export const contentDigest = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, sortKeys) ?? '')
    .digest('base64');

/**
 * The value without its timestamps. A writer whose record of an event is dropped finds with each look that it happens
 * now. Pure.
 */
export const withoutTimestamps = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null, withoutTime));

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

const withoutTime = (_: string, value: unknown): unknown =>
  typeof value === 'string' && TIMESTAMP.test(value) ? '' : value;

const sortKeys = (_: string, value: unknown): unknown =>
  isMap(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
