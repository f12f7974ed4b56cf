/**
 * What was made for a key before, or is made and kept now. What is undefined is kept as well.
 *
 * @param most so many are kept; one more drops all the others, which are made again on demand
 */
export function memo<K, V>(known: Map<K, V>, most: number, key: K, make: () => V): V {
  if (known.has(key)) return known.get(key) as V;
  if (known.size >= most) known.clear();
  const made = make();
  known.set(key, made);
  return made;
}
