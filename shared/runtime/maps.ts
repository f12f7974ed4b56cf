/** What a map of JSON or YAML is here: nothing is known of its values. */
export type UnknownMap = Readonly<Record<string, unknown>>;

/** A map, as opposed to a list or a single value. */
export function isMap(value: unknown): value is UnknownMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Empty for anything but a map. */
export const mapOf = (value: unknown): UnknownMap => (isMap(value) ? value : {});

/** What stands at a path of maps; undefined for nothing. */
export const valueIn = (tree: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((here, key) => (isMap(here) && Object.hasOwn(here, key) ? here[key] : undefined), tree);
