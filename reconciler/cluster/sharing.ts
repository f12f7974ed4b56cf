/** What is remembered to be shared. What is rare pushes out what is frequent; that comes back at once. */
const MOST_REMEMBERED = 4_000;

/**
 * Copies of plain values in which equal texts, and equal objects without objects in them, are the same one: what ten thousand nodes say
 * alike is in memory once. Such objects are frozen; what is given stays as it was, and what is no plain object is given back.
 */
export function createSharing(): <T>(value: T) => T {
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
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(key, value);
    return value;
  };
}
