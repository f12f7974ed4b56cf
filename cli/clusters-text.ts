import { type ClusterPicture, pictureTable } from '#reconciler/policy/following/cluster-picture.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { renderFolding } from './text-table.ts';

/**
 * Commits × clusters as lines: a table, with subjects below their rows where they have no room. Where so many clusters have none, a line for
 * each thing that is said of a commit, with who says it.
 *
 * @param columns what a line has room for
 */
export function clustersAsText(picture: ClusterPicture, now: Millis, columns = Infinity): readonly string[] {
  const table = pictureTable(picture, now);
  const groups = renderFolding(table, columns);
  if (groups.every(([line = '']) => line.length <= columns)) return groups.flat();
  return table.slice(1).flatMap((row) => {
    const says = Map.groupBy(picture.clusters, (_, index) => row[index + 1] ?? '');
    const lines = [...says].flatMap(([said, by]) => (said === '' ? [] : [`  ${said}: ${by.join(', ')}`]));
    return [`${row[0]}  ${row.at(-1)}`, ...lines];
  });
}
