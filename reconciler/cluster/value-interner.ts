/** Texts, and objects, that are remembered at a time. Rare ones push out frequent ones, which come back at once. */
const MOST_REMEMBERED = 4_000;
/** In characters. What nodes say alike is short, and others write these objects: long texts would be kept after they are gone. */
const LONGEST_REMEMBERED = 1_000;

/**
 * Copies of plain values in which equal texts, and equal objects without objects in them, are the same one: what ten thousand nodes say
 * alike is in memory once. Shared objects are frozen. The input is not changed; anything but plain objects and lists is returned as it is.
 */
export function createValueInterner(): <T>(value: T) => T {
  const texts = createMemory<string>();
  const leaves = createMemory<object>();

  function shareObject(object: object): object {
    const copy: Record<string, unknown> = { ...object };
    let isLeaf = true;
    for (const key of Object.keys(copy)) {
      const part = share(copy[key]);
      copy[key] = part;
      // JSON, by which leaves are known, has no undefined.
      isLeaf &&= part === null || (typeof part !== 'object' && part !== undefined);
    }
    return isLeaf ? leaves(JSON.stringify(copy), Object.freeze(copy)) : copy;
  }

  function share(value: unknown): unknown {
    if (typeof value === 'string') return texts(value, value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(share);
    return Object.getPrototypeOf(value) === Object.prototype ? shareObject(value) : value;
  }
  return share as <T>(value: T) => T;
}

/** The first value of each key, for as long as it is remembered. */
function createMemory<V>(): (key: string, value: V) => V {
  const known = new Map<string, V>();
  return (key, value) => {
    const first = known.get(key);
    if (first !== undefined) return first;
    if (key.length > LONGEST_REMEMBERED) return value;
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(key, value);
    return value;
  };
}
