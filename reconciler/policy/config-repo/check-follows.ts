import { isMap } from '#shared/runtime/maps.ts';
import type { FileReport } from './file-report.ts';
import type { Follows } from './loaded-repo.ts';

/** Names of clusters that are looked at: every one may follow eight. */
const MOST_CLUSTERS = 100;

/**
 * Reports clusters that are followed and have no file, and circles: whoever is in one waits for itself.
 *
 * @param fileOf the file of a cluster, decoded; null where there is none, undefined where it cannot be read
 * @param pathOf the path of a cluster's file, as people see it
 */
export function checkFollows(
  cluster: string,
  follows: Follows | null,
  fileOf: (cluster: string) => unknown,
  pathOf: (cluster: string) => string,
  report: FileReport,
): void {
  const at = ['spec', 'follows', 'clusters'];
  for (const name of Object.keys(follows?.signers ?? {})) {
    if (follows?.clusters.includes(name) === true) continue;
    report.error(
      'unknown-cluster',
      ['spec', 'follows', 'signers', name],
      `follows.clusters does not name ${name}, so that its keys are for nothing`,
      'correct the name, or add it to follows.clusters',
    );
  }
  for (const name of follows?.clusters ?? []) {
    if (fileOf(name) === null)
      report.error(
        'unknown-cluster',
        at,
        `there is no ${pathOf(name)}`,
        'correct the name, or add the file, which may be without a spec',
      );
    const way = wayBack(cluster, name, fileOf);
    if (way !== undefined)
      report.error(
        'follows-circle',
        at,
        `${way.join(' follows ')}: none of them would ever get another commit`,
        'let one of them follow none',
      );
  }
}

/** The way from a followed cluster to the one that follows it. */
function wayBack(cluster: string, first: string, fileOf: (cluster: string) => unknown): readonly string[] | undefined {
  const met = new Set<string>();
  const open: (readonly string[])[] = [[cluster, first]];
  for (let way = open.shift(); way !== undefined && met.size < MOST_CLUSTERS; way = open.shift()) {
    const last = way.at(-1) ?? '';
    if (last === cluster) return way;
    if (met.has(last)) continue;
    met.add(last);
    open.push(...followedIn(fileOf(last)).map((name) => [...(way ?? []), name]));
  }
  return undefined;
}

/** As far as the file of another cluster says so; what is wrong in it is said of it. */
function followedIn(file: unknown): readonly string[] {
  const spec = isMap(file) ? file['spec'] : undefined;
  const follows = isMap(spec) ? spec['follows'] : undefined;
  const clusters = isMap(follows) ? follows['clusters'] : undefined;
  return Array.isArray(clusters) ? clusters.filter((name) => typeof name === 'string') : [];
}
