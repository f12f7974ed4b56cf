import { isDeepStrictEqual as equal } from 'node:util';
import { isMap, valueIn } from '../../runtime/maps.ts';
import { isZero, viewOf } from './config-view.ts';
import { setOwn } from './decode/json.ts';
import { covers, leavesOf, RESTRICTIVE_VALUES } from './field-policy.ts';
import { childrenOf, FIELDS } from './fields/fields.ts';
import { minorNumber, NEWEST_MINOR } from './minor.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * A payload that takes the place of the node's own config, with those fields of that config that stay. What the payload sets itself
 * counts: policy let it. Of a map, each key counts for itself.
 *
 * @param keep fields, or branches of them (`ConfigIdentity.keepFields`)
 */
export function withKeptFields(local: Config, payload: Config, keep: readonly string[]): Config {
  return keptIn(local, payload, keep, '');
}

function keptIn(local: Config, payload: Config, keep: readonly string[], branch: string): Config {
  const result: Record<string, unknown> = { ...payload };
  for (const [key, own] of Object.entries(local)) {
    const name = branch === '' ? key : `${branch}.${key}`;
    const isKept = covers(keep, name);
    const isAbove = !isKept && keep.some((field) => field.startsWith(`${name}.`));
    // Null says nothing where nothing is below it.
    const set = (Object.hasOwn(payload, key) ? payload[key] : undefined) ?? undefined;
    if (isMap(own) && (isKept || isAbove) && (set === undefined || isMap(set))) {
      const inner = keptIn(own, set ?? {}, isKept ? [name] : keep, name);
      if (isKept || set !== undefined || Object.keys(inner).length > 0) setOwn(result, key, inner);
    } else if (isKept && set === undefined) {
      setOwn(result, key, own);
    }
  }
  return result;
}

/**
 * Which of these fields have another value to a kubelet in one config than in another, defaults included, unless the new value shuts
 * something. As names, sorted.
 *
 * @param minor the kubelet's version: `1.34`, `v1.34.2`
 */
export function changedFields(
  before: Config,
  after: Config,
  fields: readonly string[],
  minor: string,
): readonly string[] {
  const version = Math.min(minorNumber(minor) ?? NEWEST_MINOR, NEWEST_MINOR);
  const valuesOf = (config: Config): ((name: string) => unknown) => {
    const view = viewOf(config, version, 'replace');
    return (name) => {
      const field = fieldOf(name);
      const key = name.slice(field.length + 1);
      const value = (key === '' ? view.value(field) : valueIn(view.value(field), [key])) ?? undefined;
      return isZero(value) ? undefined : value;
    };
  };
  const [was, is] = [valuesOf(before), valuesOf(after)];
  const leaves = [before, after].flatMap((config) => leavesOf(config).map(([, name]) => name));
  // Of a map's key that neither names, the one may have the default, and the other none.
  const names = new Set([...leaves, ...fields.filter((field) => childrenOf(field).length === 0)]);
  const changed = [...names].filter((name) => {
    if (!covers(fields, name)) return false;
    const value = is(name);
    return !equal(was(name), value) && !(Object.hasOwn(RESTRICTIVE_VALUES, name) && value === undefined);
  });
  return changed.sort();
}

/** The field of the table that a name is, or is a key of. */
function fieldOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return FIELDS.has(name) || dot < 0 ? name : fieldOf(name.slice(0, dot));
}
