import { isDeepStrictEqual } from 'node:util';
import { DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import type { Field } from '#shared/contract/kubelet-config/fields/field.ts';
import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import { isMap } from '#shared/contract/kubelet-config/walk.ts';

export type RunningFields = Readonly<Record<string, unknown>>;

/** A node's config without what every kubelet of its version has anyway, and what only this node may have. */
export interface Essence {
  readonly config: RunningFields;
  /** Fields that are the node's own (its identity, its ways in), which no pool may set without further ado. */
  readonly leftOut: readonly string[];
}

/**
 * @param running what a kubelet says that it runs, defaults filled in, or a config file
 * @param minor   of that kubelet: 34 for 1.34
 */
export function essenceOf(running: RunningFields, minor: number): Essence {
  const leftOut: string[] = [];
  return { config: structIn(running, '', minor, leftOut), leftOut };
}

function structIn(struct: RunningFields, prefix: string, minor: number, leftOut: string[]): RunningFields {
  const kept = Object.entries(struct).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const field = FIELDS.get(path);
    if (field === undefined || !existsIn(field, minor) || isUnset(value, field)) return [];
    if (field.kind === 'struct' && isMap(value)) {
      const inner = structIn(value, path, minor, leftOut);
      return Object.keys(inner).length === 0 ? [] : [[name, inner]];
    }
    if (isDefault(value, field, minor)) return [];
    if (field.cost === 'never' || isDenied(path)) {
      leftOut.push(path);
      return [];
    }
    return [[name, value]];
  });
  return Object.fromEntries(kept);
}

/** By the policy that holds where nobody says otherwise. */
const isDenied = (path: string): boolean =>
  Object.keys(DENIED_BY_DEFAULT).some((field) => path === field || path.startsWith(`${field}.`));

function isUnset(value: unknown, field: Field): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return Object.keys(value).length === 0;
  // `/configz` shows false, 0 and nothing for many a pointer that nobody set and that has no default.
  if (field.pointer === true && field.default !== undefined) return false;
  return value === '' || value === 0 || value === false || durationIn(value, field) === 0;
}

function isDefault(value: unknown, field: Field, minor: number): boolean {
  const usual = defaultOf(field, minor);
  const span = durationIn(value, field);
  return isDeepStrictEqual(value, usual) || (span !== undefined && span === durationIn(usual, field));
}

/** The kubelet writes `1m` as `1m0s`. */
const durationIn = (value: unknown, { kind }: Field): number | undefined =>
  kind.startsWith('duration') && typeof value === 'string' ? parseGoDuration(value) : undefined;
