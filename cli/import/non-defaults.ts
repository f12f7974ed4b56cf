import { isDeepStrictEqual } from 'node:util';
import type { Field } from '#shared/contract/kubelet-config/fields/field.ts';
import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import { isHostField } from './host-fields.ts';
import { meaningOf } from './amount-notation.ts';
import { isMap } from '#shared/runtime/maps.ts';

export type RunningFields = Readonly<Record<string, unknown>>;

/** A node's config without what every kubelet of its version has anyway, and what only this node may have. */
export interface NonDefaults {
  readonly config: RunningFields;
  /** Fields that stay with the node: its identity, its ways in, how its machine was set up, what flags of its distribution set. */
  readonly leftOut: readonly string[];
  /** Fields with a value that this release does not know, of a newer kubelet or misspelt. Absent for none. */
  readonly unknown?: readonly string[];
}

/**
 * @param running what a kubelet says that it runs, defaults filled in, or a config file
 * @param minor   of that kubelet: 34 for 1.34
 * @param stays   whether a field stays with the node
 */
export function nonDefaultsOf(running: RunningFields, minor: number, stays = isHostField): NonDefaults {
  const lists: Lists = { leftOut: [], unknown: [], stays };
  const config = structIn(running, '', minor, lists);
  return { config, leftOut: lists.leftOut, ...(lists.unknown.length === 0 ? {} : { unknown: lists.unknown }) };
}

/** Filled while a config is read. */
interface Lists {
  readonly leftOut: string[];
  readonly unknown: string[];
  readonly stays: typeof isHostField;
}

/** What says of which kind the file is. */
const NOT_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind']);

function structIn(struct: RunningFields, prefix: string, minor: number, lists: Lists): RunningFields {
  const kept = Object.entries(struct).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const field = FIELDS.get(path);
    if (field === undefined) {
      if (!NOT_FIELDS.has(path) && !isZero(value)) lists.unknown.push(path);
      return [];
    }
    if (!existsIn(field, minor) || isUnset(value, field)) return [];
    if (field.kind === 'struct' && isMap(value)) {
      const inner = structIn(value, path, minor, lists);
      return Object.keys(inner).length === 0 ? [] : [[name, inner]];
    }
    // The kubelet writes `1m` as `1m0s`, and people write `1Gi` as `1024Mi`.
    if (isDeepStrictEqual(meaningOf(value, path), meaningOf(defaultOf(field, minor), path))) return [];
    if (lists.stays(path, field)) {
      lists.leftOut.push(path);
      return [];
    }
    return [[name, value]];
  });
  return Object.fromEntries(kept);
}

function isUnset(value: unknown, field: Field): boolean {
  if (isEmpty(value)) return true;
  if (typeof value === 'object') return false;
  // `/configz` shows false, 0 and nothing for many an unset pointer that has no default.
  if (field.pointer === true && field.default !== undefined) return false;
  return value === '' || value === 0 || value === false || durationIn(value, field) === 0;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.keys(value).length === 0;
}

/** What kubelets show of an unset field. */
const isZero = (value: unknown): boolean => isEmpty(value) || value === '' || value === 0 || value === false;

const durationIn = (value: unknown, { kind }: Field): number | undefined =>
  kind.startsWith('duration') && typeof value === 'string' ? parseGoDuration(value) : undefined;
