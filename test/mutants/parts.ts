/**
 * What is mutated, as patterns of StrykerJS.
 *
 * @param parts folders or files of the floors; all of the floors where there is none
 * @throws RangeError where a part is in none of them: nothing would be judged, and all be well
 */
export function mutatedBy(parts: readonly string[], floors: readonly string[]): string[] {
  const named = parts.map((part) => part.replace(/\/+$/, ''));
  const strange = named.find((part) => !floors.some((floor) => part === floor || part.startsWith(`${floor}/`)));
  if (strange !== undefined) throw new RangeError(`${strange} is not in ${floors.join(' or ')}`);
  return (named.length === 0 ? floors : named).map((part) => (part.endsWith('.ts') ? part : `${part}/**/*.ts`));
}
