import type { RunningFields } from '../non-defaults.ts';
import type { Difference } from './pool-names.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** A value of a config as one word: its path, and what it is. Equal for what a merge does not tell apart. */
export type FieldLeaf = string;

const leafOf = (keys: readonly string[], value: unknown): FieldLeaf => `${JSON.stringify(keys)}=${textOf(value)}`;

/** As JSON has no whole numbers beyond 2^53, they are written as what they are. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : sortedMap(item)));

const sortedMap = (item: unknown): unknown =>
  isMap(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item;

interface Placed {
  readonly keys: readonly string[];
  readonly value: unknown;
}

function placedIn(config: RunningFields, before: readonly string[] = []): readonly Placed[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const keys = [...before, key];
    return isMap(value) && Object.keys(value).length > 0 ? placedIn(value, keys) : [{ keys, value }];
  });
}

/** Everything that a config says; lists are one value, maps are their values. */
export const leavesIn = (config: RunningFields): ReadonlySet<FieldLeaf> =>
  new Set(placedIn(config).map(({ keys, value }) => leafOf(keys, value)));

/** The part of a config whose leaves are among these, in the config's own order. */
export function onlyLeaves(
  config: RunningFields,
  leaves: ReadonlySet<FieldLeaf>,
  before: readonly string[] = [],
): RunningFields {
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
      const keys = [...before, key];
      if (!isMap(value) || Object.keys(value).length === 0)
        return leaves.has(leafOf(keys, value)) ? [[key, value]] : [];
      const inner = onlyLeaves(value, leaves, keys);
      return Object.keys(inner).length === 0 ? [] : [[key, inner]];
    }),
  );
}

/** What distinguishes a config from another: its own values, and those of the other that it does not have at all. */
export function differencesOf(config: RunningFields, other: RunningFields): readonly Difference[] {
  const [own, theirs] = [placedIn(config), placedIn(other)];
  const known = new Set(theirs.map(({ keys, value }) => leafOf(keys, value)));
  const places = new Set(own.map(({ keys }) => JSON.stringify(keys)));
  return [
    ...own.filter(({ keys, value }) => !known.has(leafOf(keys, value))),
    ...theirs.filter(({ keys }) => !places.has(JSON.stringify(keys))).map(({ keys }) => ({ keys, value: undefined })),
  ];
}
