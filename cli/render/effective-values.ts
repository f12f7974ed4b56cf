import { isDeepStrictEqual } from 'node:util';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
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
 * @param withDefaults whether as that kubelet works with it: with its defaults, also in the place of what counts as unset
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
  return withDefaults && minor !== undefined ? inEffect(pool.value, written, minor) : written;
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

/** As the kubelet works with it: what counts as unset there has its default, and so has all that is not written. */
function inEffect(config: Config, written: readonly EffectiveValue[], minor: number): readonly EffectiveValue[] {
  const view = viewOf(config, minor, 'replace');
  const usual = `default of ${minorName(minor)}`;
  const values = written.flatMap((leaf): readonly EffectiveValue[] => {
    const path = leaf.keys.join('.');
    if (leaf.value === null && FIELDS.get(path)?.kind === 'struct') return [];
    const value = view.value(path) ?? leaf.value;
    if (isDeepStrictEqual(value, leaf.value)) return [leaf];
    return [{ ...leaf, value, origin: `${usual}, as ${JSON.stringify(leaf.value)} is unset (${leaf.origin})` }];
  });
  const known = new Set(values.map(({ keys }) => keys.join('.')));
  const beside = [...FIELDS].flatMap(([path, { kind }]) => {
    const value = kind === 'struct' || path.includes('[]') || known.has(path) ? undefined : view.value(path);
    return value === undefined || value === null ? [] : leavesOf({ [path]: value });
  });
  const unwritten = beside.filter(({ keys }) => !known.has(keys.join('.')));
  return [
    ...values,
    ...unwritten.map(({ keys: [path = '', ...rest], value }) => ({
      keys: [...path.split('.'), ...rest],
      value,
      origin: usual,
    })),
  ];
}

function leavesOf(config: Config, before: Keys = []): readonly { readonly keys: Keys; readonly value: unknown }[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const keys = [...before, key];
    return isMap(value) && Object.keys(value).length > 0 ? leavesOf(value, keys) : [{ keys, value }];
  });
}
