import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { leafPaths, type Template, describeLeaf } from '#reconciler/policy/templates/template.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { poolValueForDisplay } from '../class-of-node.ts';
import { isMap } from '#shared/runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;
type Keys = readonly string[];

/** A value of a config that is no map, or an empty one. */
export interface EffectiveValue {
  /** Keys from the root; one of them may have dots in it. */
  readonly keys: Keys;
  readonly value: unknown;
  /** `base/common.yaml:10`, or why it has no line. */
  readonly origin: string;
}

/**
 * What a pool gives its nodes, value by value.
 *
 * @param minor of the kubelet: fields that it does not know are said to be dropped; undefined for any version
 * @param withDefaults whether to add that kubelet's defaults
 * @param template     what the values of a node were computed from; absent for a pool without computed values
 */
export function effectiveValuesOf(
  pool: ValidPool,
  minor: number | undefined,
  withDefaults = false,
  template?: Template,
): readonly EffectiveValue[] {
  const computed = new Map(
    (template === undefined ? [] : leafPaths(template)).map(({ path, leaf }) => [
      path.join('\n'),
      `, ${describeLeaf(leaf)}`,
    ]),
  );
  const written = leavesOf(poolValueForDisplay(pool) ?? {}).map(({ keys, value }) => ({
    keys,
    value,
    origin: `${originOf(pool, keys, minor)}${computed.get(keys.join('\n')) ?? ''}`,
  }));
  return withDefaults && minor !== undefined ? [...written, ...defaultsBeside(pool, minor)] : written;
}

function originOf({ positionOf }: ValidPool, keys: Keys, minor: number | undefined): string {
  const { file = '', line } = positionOf?.(keys) ?? {};
  const field = fieldAt(keys);
  const isDropped = minor !== undefined && field !== undefined && !existsIn(field, minor);
  const dropped = isDropped ? `; a kubelet ${minorName(minor)} does not know it` : '';
  return `${file}${line === undefined ? '' : `:${line}`}${dropped}`;
}

function fieldAt(keys: Keys): ReturnType<typeof FIELDS.get> {
  for (let end = keys.length; end > 0; end -= 1) {
    const field = FIELDS.get(keys.slice(0, end).join('.'));
    if (field !== undefined) return field;
  }
  return undefined;
}

function defaultsBeside({ value }: ValidPool, minor: number): readonly EffectiveValue[] {
  return [...FIELDS].flatMap(([path, field]): readonly EffectiveValue[] => {
    const keys = path.split('.');
    const usual = existsIn(field, minor) ? defaultOf(field, minor) : undefined;
    if (usual === undefined || isMap(usual) || isSet(value, keys)) return [];
    return [{ keys, value: usual, origin: `default of ${minorName(minor)}` }];
  });
}

function isSet(config: Config, keys: Keys): boolean {
  let here: unknown = config;
  for (const key of keys) {
    if (!isMap(here)) return true;
    if (!Object.hasOwn(here, key)) return false;
    here = here[key];
  }
  return true;
}

function leavesOf(config: Config, before: Keys = []): readonly { readonly keys: Keys; readonly value: unknown }[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const keys = [...before, key];
    return isMap(value) && Object.keys(value).length > 0 ? leavesOf(value, keys) : [{ keys, value }];
  });
}
