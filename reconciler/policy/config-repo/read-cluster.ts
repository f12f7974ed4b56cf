import { NO_FIELD_POLICY } from '#shared/contract/kubelet-config/field-policy.ts';
import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import * as clusterFile from './cluster-file.generated.js';
import { checkName, type FileReport } from './file-report.ts';
import type { ClusterConfig, Follows } from './loaded-repo.ts';
import { readBySchema } from './read-by-schema.ts';

/** How many of the nodes in pools a commit that changes several pools may give another config, by default. */
export const DEFAULT_MAX_CHANGE = '80%';

/** The name of the cluster's file if its path is unknown. */
export const CLUSTER_FILE = "the cluster's file";

/** An error in one of these leaves open what the others say; one anywhere else may hide that changes are to wait. */
const HARMLESS = /^spec\.(?:kubeletVersions|maxUnassign|maxChange|fields|tolerate)(?:$|[.[])/;

/** What holds for a cluster without a file of its own. */
export const DEFAULT_CLUSTER: ClusterConfig = {
  kubeletVersions: [],
  maxUnassign: '20%',
  maxChange: null,
  maxUnavailable: null,
  suspend: false,
  follows: null,
  windows: null,
  fields: NO_FIELD_POLICY,
  trial: { minDuration: '1m', maxStartTimeout: '30m' },
  tolerate: [],
};

/**
 * What counts when a cluster's file cannot be read: what it allowed and what it held up is not known. So nothing may be
 * unassigned, and nothing new is started. What is under way goes on.
 *
 * @param cluster what could be read of it
 */
export function unreadableCluster(
  findings: readonly Finding[],
  cluster: ClusterConfig = DEFAULT_CLUSTER,
): ClusterConfig {
  const first = findings.find(({ severity }) => severity === 'error') ?? findings[0];
  return { ...cluster, maxUnassign: 0, unreadable: first === undefined ? 'it cannot be read' : formatFinding(first) };
}

/**
 * A `clusters/<cluster>.yaml`. What is wrong in it is in the report; the versions that can be read count all the same,
 * but no allowance is taken from a file with an error in it.
 */
export function readCluster(document: unknown, cluster: string, report: FileReport): ClusterConfig {
  const { value } = readBySchema<clusterFile.ClusterFile>(clusterFile, document, report);
  checkName(value, cluster, report);
  const { spec } = value;
  const { allow, deny } = spec.fields;
  const minors = spec.kubeletVersions.map((version) => minorName(minorNumber(version) ?? 0));
  const read: ClusterConfig = {
    maxChange: null,
    maxUnavailable: null,
    windows: null,
    ...spec,
    follows: spec.follows === undefined ? null : followsIn(spec.follows),
    kubeletVersions: [...new Set(minors)],
    fields: { allow: [...new Set(allow)], deny: [...new Set(deny)] },
    tolerate: [...new Set(spec.tolerate)],
  };
  if (report.findings.length === 0) return read;
  // What a broken file denies stays denied; what it allows does not count.
  const isHarmless = report.findings.every(({ field = '' }) => HARMLESS.test(field));
  const isWrong = (key: string): boolean => report.findings.some(({ field }) => field === `spec.${key}`);
  return {
    ...(isHarmless ? { ...read, maxUnassign: 0 } : unreadableCluster(report.findings, read)),
    maxChange: isWrong('maxChange') ? 0 : read.maxChange,
    maxUnavailable: isWrong('maxUnavailable') ? 1 : read.maxUnavailable,
    fields: { allow: [], deny: read.fields.deny },
    tolerate: [],
    follows: report.findings.some(({ field = '' }) => field.startsWith('spec.follows')) ? null : read.follows,
  };
}

/** Keys without what stands behind them, which is for people. */
function followsIn({ signers, require, ...rest }: NonNullable<clusterFile.ClusterFile['spec']['follows']>): Follows {
  const keyOf = (line: string): string => line.split(' ', 2).join(' ');
  const named = Object.entries(signers ?? {}).map(([name, keys]) => [name, [...new Set(keys.map(keyOf))]]);
  const keys = signers === undefined ? {} : { signers: Object.fromEntries(named) };
  const wanted = require === 'payloads' ? { require } : {};
  return { ...rest, ...keys, ...wanted, clusters: [...new Set(rest.clusters)] };
}
