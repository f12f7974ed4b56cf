import type { DistributionName } from '#shared/contract/distributions.ts';
import { distinctFindings, type Finding } from '#shared/contract/finding.ts';
import { configVerdict } from '#shared/contract/kubelet-config/verdict.ts';
import { inFolder } from '#reconciler/policy/in-folder.ts';
import { clusterNames } from '#reconciler/policy/config-repo/cluster-names.ts';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { missingClusterFileNotice } from '../choose-cluster.ts';
import { type ProgressLine, silent } from '../progress-line.ts';
import { DEFAULT_VERSIONS } from './validate-file.ts';
import type { DirectoryTree } from '../revision/read-directory.ts';
import { poolOnDistribution } from './validate-distribution.ts';
import { byPlace, type ValidatedFile, type Validation } from './validation.ts';

export interface RepoQuestion {
  /** Undefined: every one that has a file in `clusters/`. */
  readonly cluster: string | undefined;
  /** Besides those that the cluster files name. */
  readonly versions: readonly string[];
  /** Fields that are allowed from outside of the repository. */
  readonly allowFields?: readonly string[];
  /** The folder of the repository that is the config repository. Default: its root. */
  readonly folder?: string;
  /** Of the nodes. Default: nothing is known of them. */
  readonly distribution?: DistributionName | undefined;
}

/** Everything that the reconciler of any of the clusters would say, once, by the file that it is about. */
export function validateRepo(
  { files, findings }: DirectoryTree,
  { cluster, versions, allowFields = [], folder = '', distribution }: RepoQuestion,
  progress: ProgressLine = silent,
): Validation {
  const outside = inFolder(folder, '').length;
  // A cluster's file may be a link.
  const present = clusterNames([...files.keys(), ...findings.map(({ file = '' }) => file.slice(outside))]);
  const clusters = cluster === undefined ? (present.length === 0 ? [''] : present) : [cluster];
  const minors = new Set(versions);
  const pools = new Set<string>();
  const layers = new Set<string>();
  const found = clusters.flatMap((name) => {
    progress.say(`judging ${files.size} files${name === '' ? '' : ` for cluster ${name}`}`);
    const repo = loadRepo(files, { cluster: name, gitFindings: findings, allowFields, folder });
    for (const minor of repo.cluster.kubeletVersions) minors.add(minor);
    const here = [...new Set([...repo.cluster.kubeletVersions, ...versions])];
    const onDistribution = (pool: LoadedPool): readonly Finding[] =>
      distribution === undefined || pool.status !== 'valid'
        ? []
        : poolOnDistribution(
            pool,
            files.get(`pools/${pool.name}/pool.yaml`),
            distribution,
            here.length === 0 ? DEFAULT_VERSIONS : here,
          );
    for (const pool of repo.pools) {
      pools.add(pool.name);
      if (pool.status === 'valid') for (const layer of pool.spec.layers) layers.add(layer);
    }
    return [
      ...repo.findings,
      ...repo.pools.flatMap((pool, index) => {
        progress.say(`judged ${index} of ${repo.pools.length} pools`);
        return [...findingsOfPool(pool, versions), ...onDistribution(pool)];
      }),
    ];
  });
  const judged = minors.size === 0 ? DEFAULT_VERSIONS : [...minors];
  const byFile = Map.groupBy(distinctFindings(found), ({ file }) => file ?? '');
  // What else lies in the repository, such as the forge's own files, is not a config.
  const ours = [...files.keys()].filter((path) => layers.has(path) || /^(?:base|clusters|pools)\//.test(path));
  const shown = new Map([...files].map(([path, file]) => [file.path, path] as const));
  const paths = [...new Set([...ours.map((path) => inFolder(folder, path)), ...byFile.keys()])].sort();
  return {
    files: paths.map((path) =>
      judgedFile(path, byFile.get(path) ?? [], kindOf(shown.get(path)) === 'layer' ? judged : []),
    ),
    about: `${pools.size} ${pools.size === 1 ? 'pool' : 'pools'}`,
    ...(cluster === undefined ? {} : { aside: missingClusterFileNotice(cluster, present, folder) }),
  };
}

function findingsOfPool(pool: LoadedPool, versions: readonly string[]): readonly Finding[] {
  return [...pool.findings, ...(pool.status === 'valid' ? judgePool(pool, versions) : [])];
}

/** @param path of a file from the folder that is followed; undefined if not read */
const kindOf = (path: string | undefined): 'layer' | 'other' =>
  path === undefined || /^clusters\/|(?:^|\/)pool\.yaml$/.test(path) ? 'other' : 'layer';

/** @param minors none if it is unknown what a kubelet would make of the file */
function judgedFile(path: string, findings: readonly Finding[], minors: readonly string[]): ValidatedFile {
  const verdicts = minors.map((minor) => [minor, configVerdict(findings, minor)] as const);
  return { path, verdicts: Object.fromEntries(verdicts), findings: [...findings].sort(byPlace) };
}
