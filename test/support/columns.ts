/** One field of each item. */
export const column = <T, K extends keyof T>(items: readonly T[] | undefined, key: K): readonly T[K][] | undefined =>
  items?.map((item) => item[key]);

/** Some fields of each item, a row for each. */
export const columns = <T, K extends keyof T>(
  items: readonly T[] | undefined,
  ...keys: readonly K[]
): readonly (readonly T[K][])[] | undefined => items?.map((item) => keys.map((key) => item[key]));
