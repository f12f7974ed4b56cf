import { isDeepStrictEqual as equal } from 'node:util';
import { isMap, valueIn } from '../../runtime/maps.ts';
import { isZero, viewOf } from './config-view.ts';
import { setOwn } from './decode/json.ts';
import { covers, leavesOf, RESTRICTIVE_VALUES } from './field-policy.ts';
import { FIELDS } from './fields/fields.ts';
import { minorNumber, NEWEST_MINOR } from './minor.ts';
import type { Path } from './position.ts';

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
  const valuesOf = (config: Config): ((path: Path, name: string) => unknown) => {
    const view = viewOf(config, version, 'replace');
    return (path, name) => {
      const value = (FIELDS.has(name) ? view.value(name) : valueIn(config, path)) ?? undefined;
      return isZero(value) ? undefined : value;
    };
  };
  const [was, is] = [valuesOf(before), valuesOf(after)];
  const leaves = new Map(
    [before, after].flatMap((config) => leavesOf(config).map(([path, name]) => [name, path] as const)),
  );
  const changed = [...leaves].filter(([name, path]) => {
    if (!covers(fields, name)) return false;
    const value = is(path, name);
    return !equal(was(path, name), value) && !(Object.hasOwn(RESTRICTIVE_VALUES, name) && value === undefined);
  });
  return changed.map(([name]) => name).sort();
}
