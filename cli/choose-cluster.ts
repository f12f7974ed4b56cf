import { inFolder } from '#reconciler/policy/in-folder.ts';
import { clusterNames } from '#reconciler/policy/config-repo/cluster-names.ts';
import { type Given, UsageError } from './command.ts';
import type { Io } from './io.ts';

/**
 * The cluster that `--cluster` names, or else the one that the repository has a file for. One without a file has defaults in
 * every respect; where others have one, the reconciler starts nothing new, which is said.
 *
 * @param paths of every revision that is looked at, from the folder that is followed
 * @param folder where that is in the repository; empty for its root
 * @throws Mistake where there are several to choose from
 */
export function chooseCluster(given: Given, paths: Iterable<string>, err: Io['err'], folder = ''): string {
  const named = given.text('cluster');
  const present = clusterNames(paths);
  if (named === undefined) {
    if (present.length > 1) throw new UsageError(`choose a cluster with --cluster: ${present.join(', ')}`);
    return present[0] ?? 'default';
  }
  err.write(missingClusterFileNotice(named, present, folder));
  return named;
}

/** What is to be said of a cluster without a file in a repository where others have one; '' where that is not so. */
export function missingClusterFileNotice(named: string, present: readonly string[], folder = ''): string {
  if (present.length === 0 || present.includes(named)) return '';
  const file = (name: string): string => inFolder(folder, `clusters/${name}.yaml`);
  const others = present.map(file).join(', ');
  return `there is no ${file(named)}, so nothing new is started in ${named}; there is ${others}\n`;
}
