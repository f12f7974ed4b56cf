import type { Finding } from '#shared/contract/finding.ts';
import { commonFields, type FieldPolicy } from '#shared/contract/kubelet-config/field-policy.ts';
import type { ComplaintsOf } from '#shared/contract/kubelet-config/validate.ts';
import type { RepoFile } from '../commit-snapshot.ts';
import { checkFollows } from './check-follows.ts';
import { clusterNames } from './cluster-names.ts';
import { fileDecoder, type FileDecoder } from './file-decoder.ts';
import { caseFold } from './case-fold.ts';
import { leftOutOf } from './left-out.ts';
import { loadPool } from './load-pool.ts';
import { inFolder } from '../in-folder.ts';
import type { PoolSource } from './pool-source.ts';
import type { ClusterConfig, LoadedPool, LoadedRepo, PoolBounds, TrialLimits } from './loaded-repo.ts';
import { DEFAULT_CLUSTER, readCluster, unreadableCluster } from './read-cluster.ts';
import { fileReport } from './file-report.ts';
import { firstComplaints } from './first-complaints.ts';
import { CommitTooLargeError, firstFindings, READING_LIMITS, readingBudget } from './reading-limits.ts';

export interface LoadOptions {
  /** Name of the cluster: `clusters/<cluster>.yaml` speaks of it. */
  readonly cluster: string;
  /** What the source left out of the files, and why. */
  readonly gitFindings?: readonly Finding[];
  /** The folder of the repository that the files are in, for their paths in findings: `infra/kubelet`. Default: its root. */
  readonly folder?: string;
  /**
   * What the cluster's file before this commit let pools say: what both allow is allowed, what either denies is denied. Absent:
   * the commit's own file counts, for a check of files without the commit in force.
   */
  readonly boundsBefore?: PoolBounds;
  /** Fields that are allowed from outside of the repository. */
  readonly allowFields?: readonly string[];
  /** What judges configs. Default: again at each load. */
  readonly complaintsOf?: ComplaintsOf;
}

/**
 * Reads a commit's files: the pools with their configs, and what the cluster's file says. The result depends on the
 * files and the cluster's name alone. What is wrong with one pool, or with a layer, concerns only the pools that use it.
 */
export function loadRepo(files: ReadonlyMap<string, RepoFile>, options: LoadOptions): LoadedRepo {
  const pools: LoadedPool[] = [];
  const rest = loadInto((pool) => void pools.push(pool), files, options);
  return { ...rest, pools: rest.tooLarge === undefined ? pools : [] };
}

/**
 * The same, one pool after the other: all of them need not be in memory.
 *
 * @param take is given each pool, in the order of their names; what it was given is void where the result is `tooLarge`
 */
export function loadInto(
  take: (pool: LoadedPool) => void,
  files: ReadonlyMap<string, RepoFile>,
  options: LoadOptions,
): Omit<LoadedRepo, 'pools'> {
  try {
    return load(take, files, options);
  } catch (error) {
    if (!(error instanceof CommitTooLargeError)) throw error;
    const { message } = error;
    const findings: readonly Finding[] = [{ code: 'commit-too-large', severity: 'error', message }];
    return { cluster: unreadableCluster(findings), findings, tooLarge: message };
  }
}

function load(
  take: (pool: LoadedPool) => void,
  files: ReadonlyMap<string, RepoFile>,
  options: LoadOptions,
): Omit<LoadedRepo, 'pools'> {
  const budget = readingBudget(READING_LIMITS);
  const decoder = fileDecoder(budget);
  const { gitFindings = [], folder = '', complaintsOf: judge = firstComplaints } = options;
  const shown: Shown = (path) => inFolder(folder, path);
  const inside = (path: string): string => (folder === '' ? path : path.slice(folder.length + 1));
  const leftOut = leftOutOf(gitFindings, inside);
  // It may be a link itself: then nobody refers to anything in it.
  leftOut.at('pools');
  const { cluster: read, findings } = loadCluster({ files, name: options.cluster, leftOut, shown }, decoder);
  const before = options.boundsBefore?.trial;
  const trial = trialNow(read, before);
  const cluster: ClusterConfig = { ...read, trial, file: shown(`clusters/${options.cluster}.yaml`) };
  const fields = fieldsNow(cluster.fields, options);
  const trials = before === undefined ? [trial] : [trial, before];
  for (const name of poolNames([...files.keys()], leftOut.poolNames)) {
    const pool = loadPool({ name, files, shown, cluster, fields, trials, leftOut, complaintsOf: judge }, decoder);
    if (pool.status === 'valid') budget.spend('payloads', `payload of ${name}`, pool.payload.length);
    take(pool);
  }
  const ofRepo = [...findings, ...nestedPools(files, shown), ...leftOut.told()];
  return { cluster, findings: firstFindings(ofRepo, cluster.file ?? '') };
}

/** A commit may take back at once what was allowed, and deny more; to allow more takes the commit before. */
function fieldsNow(
  { allow, deny }: FieldPolicy,
  { boundsBefore, allowFields = [] }: Pick<LoadOptions, 'boundsBefore' | 'allowFields'>,
): FieldPolicy {
  if (boundsBefore === undefined) return { allow: [...allowFields, ...allow], deny };
  return {
    allow: [...allowFields, ...commonFields(allow, boundsBefore.fields.allow)],
    deny: [...new Set([...deny, ...boundsBefore.fields.deny])],
  };
}

/** A file that is gone, or cannot be read, loosens nothing and tightens nothing: what it said last stays. */
const trialNow = ({ trial, missing, unreadable }: ClusterConfig, before = trial): TrialLimits =>
  missing === undefined && unreadable === undefined ? trial : before;

type Shown = PoolSource['shown'];

function loadCluster(
  { files, name, leftOut, shown }: Pick<PoolSource, 'files' | 'name' | 'leftOut' | 'shown'>,
  decoder: FileDecoder,
): { readonly cluster: ClusterConfig; readonly findings: readonly Finding[] } {
  const path = `clusters/${name}.yaml`;
  const file = files.get(path);
  const left = leftOut.at(path);
  if (left !== undefined && file === undefined) return { cluster: unreadableCluster([left]), findings: [] };
  if (file === undefined) {
    const misnamed = misnamedCluster(files, name, shown);
    const wrong = misnamed.length > 0 ? misnamed : missingCluster(files, path, shown);
    const cluster = wrong.length === 0 ? DEFAULT_CLUSTER : unreadableCluster(wrong);
    return { cluster: { ...cluster, missing: true }, findings: wrong };
  }
  const { value, findings, positionOf } = decoder.own(file);
  if (value === undefined) return { cluster: unreadableCluster(findings), findings };
  const report = fileReport(file.path, positionOf);
  const cluster = readCluster(value, name, report);
  const fileOf = (other: string): unknown => {
    const of = other === name ? file : files.get(`clusters/${other}.yaml`);
    return of === undefined ? null : decoder.own(of).value;
  };
  const found = report.findings.length;
  checkFollows(name, cluster.follows, fileOf, (other) => shown(`clusters/${other}.yaml`), report);
  const all = [...findings, ...report.findings];
  // A cluster that waits for itself, or for an unknown cluster, would never take the commit that corrects this.
  const astray = report.findings.slice(found);
  const followed = astray.length === 0 ? cluster : unreadableCluster(astray, { ...cluster, follows: null });
  // Also what the parser found odd: a doubled key may be an allowance, or what holds changes up.
  return { cluster: findings.length === 0 ? followed : unreadableCluster(findings, followed), findings: all };
}

/** A file that was meant for this cluster: a suspension in it would be lost without a word. */
function misnamedCluster(files: ReadonlyMap<string, RepoFile>, name: string, shown: Shown): readonly Finding[] {
  const path = `clusters/${name}.yaml`;
  const stem = (other: string): string => caseFold(other).replace(/\.(?:ya?ml|json)$/, '');
  const meant = [...files.keys()].filter((other) => other.startsWith('clusters/') && stem(other) === stem(path));
  return meant.map((file) => ({
    code: 'misnamed-cluster',
    severity: 'error',
    message: `this file is read under the name ${shown(path)} alone`,
    suggestion: `rename it to ${shown(path)}`,
    file: shown(file),
  }));
}

/** Where other clusters have a file and this one has none, CLUSTER or a file's name is more often wrong than meant. */
function missingCluster(files: ReadonlyMap<string, RepoFile>, path: string, shown: Shown): readonly Finding[] {
  const others = clusterNames(files.keys()).map((name) => shown(`clusters/${name}.yaml`));
  if (others.length === 0) return [];
  return [
    {
      code: 'missing-cluster',
      severity: 'error',
      message: `there is no ${shown(path)}, though there is ${others.join(', ')}`,
      suggestion: `add ${shown(path)}, which may be without a spec, or set CLUSTER to the name that is meant`,
      file: shown(path),
    },
  ];
}

/**
 * Every folder in `pools/` that has anything but hidden files in it, and whatever was left out there: a folder that became a
 * symbolic link is a broken pool, not one that was taken away.
 */
function poolNames(paths: readonly string[], leftOut: readonly string[]): readonly string[] {
  const names = [...paths.flatMap((path) => /^pools\/([^/]+)\/[^.]/.exec(path)?.[1] ?? []), ...leftOut];
  return [...new Set(names)].sort();
}

function nestedPools(files: ReadonlyMap<string, RepoFile>, shown: Shown): readonly Finding[] {
  const nested = [...files.keys()].filter((path) => /^pools\/[^/]+\/.+\/pool\.yaml$/.test(path));
  return nested.map((file) => ({
    code: 'nested-pool',
    severity: 'error',
    message: 'a pool in the folder of another pool is ignored',
    suggestion: `move the folder to ${shown('pools/')}`,
    file: shown(file),
  }));
}
