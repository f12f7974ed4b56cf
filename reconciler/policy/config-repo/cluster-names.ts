/**
 * The clusters that files in `clusters/` speak of, sorted; also where one ends in `.yml` or `.json`, which `loadRepo` finds fault
 * with: left out here, nobody would ever hear of it.
 */
export function clusterNames(paths: Iterable<string>): readonly string[] {
  const names = [...paths].flatMap((path) => /^clusters\/([^/.][^/]*)\.(?:ya?ml|json)$/.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}
