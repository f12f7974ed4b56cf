/**
 * The clusters that files in `clusters/` speak of, sorted; also of files that end in `.yml` or `.json`, which `loadRepo` finds fault
 * with: left out here, they would never be reported.
 */
export function clusterNames(paths: Iterable<string>): readonly string[] {
  const names = [...paths].flatMap((path) => /^clusters\/([^/.][^/]*)\.(?:ya?ml|json)$/.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}
