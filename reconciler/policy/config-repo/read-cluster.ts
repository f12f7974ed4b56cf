import { API_VERSION } from '#shared/contract/api/group.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { NO_FIELD_POLICY } from '#shared/contract/kubelet-config/field-policy.ts';
import { minorName, minorNumber, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import type { ClusterConfig } from './loaded-repo.ts';
import { readFieldPolicy } from './read-field-policy.ts';
import { readAmount, readFlag } from './read-scalars.ts';
import { readTolerance } from './read-tolerance.ts';
import { readWindows } from './read-windows.ts';
import { checkHeader, type FileReport, readMap } from './file-report.ts';

/** How many of the nodes in pools a commit that changes several pools may give another config, by default. */
export const DEFAULT_MAX_CHANGE = '80%';

/** The name of the cluster's file if its path is unknown: in records of older releases. */
export const CLUSTER_FILE = "the cluster's file";

/** What holds for a cluster without a file of its own. */
export const DEFAULT_CLUSTER: ClusterConfig = {
  kubeletVersions: [],
  maxUnassign: '20%',
  maxChange: null,
  maxUnavailable: null,
  suspend: false,
  windows: null,
  fields: NO_FIELD_POLICY,
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

const KEYS = [
  'kubeletVersions',
  'maxUnassign',
  'maxChange',
  'maxUnavailable',
  'suspend',
  'windows',
  'fields',
  'tolerate',
] as const;

/** An error in one of these leaves open what the others say; one anywhere else may hide that changes are to wait. */
const HARMLESS = /^spec\.(?:kubeletVersions|maxUnassign|maxChange|fields|tolerate)(?:$|[.[])/;

/**
 * A `clusters/<cluster>.yaml`. What is wrong in it is in the report; the versions that can be read count all the same,
 * but no allowance is taken from a file with an error in it.
 */
export function readCluster(document: unknown, cluster: string, report: FileReport): ClusterConfig {
  const root = readMap(document, [], ['apiVersion', 'kind', 'metadata', 'spec'], report) ?? {};
  checkHeader(root, { apiVersion: API_VERSION, kind: 'ClusterConfig', name: cluster }, report);
  const spec = readMap(root.spec, ['spec'], KEYS, report) ?? {};
  const at = (key: string): Path => ['spec', key];
  const amount = (key: 'maxUnassign' | 'maxChange' | 'maxUnavailable', usual: Amount): Amount =>
    readAmount(spec[key], at(key), { min: 0, default: usual }, report);
  const read: ClusterConfig = {
    kubeletVersions: readVersions(spec.kubeletVersions, at('kubeletVersions'), report),
    maxUnassign: amount('maxUnassign', DEFAULT_CLUSTER.maxUnassign),
    maxChange: spec.maxChange === undefined ? null : amount('maxChange', DEFAULT_MAX_CHANGE),
    maxUnavailable: spec.maxUnavailable === undefined ? null : amount('maxUnavailable', 1),
    suspend: readFlag(spec.suspend, at('suspend'), report) ?? false,
    windows: readWindows(spec.windows, at('windows'), report) ?? null,
    fields: readFieldPolicy(spec.fields, at('fields'), report),
    tolerate: readTolerance(spec.tolerate, at('tolerate'), report),
  };
  if (report.findings.length === 0) return read;
  // What a broken file denies stays denied; what it allows does not count.
  const isHarmless = report.findings.every(({ field = '' }) => HARMLESS.test(field));
  const wrongChange = report.findings.some(({ field }) => field === 'spec.maxChange');
  return {
    ...(isHarmless ? { ...read, maxUnassign: 0 } : unreadableCluster(report.findings, read)),
    maxChange: wrongChange ? 0 : read.maxChange,
    fields: { allow: [], deny: read.fields.deny },
    tolerate: [],
  };
}

function readVersions(value: unknown, path: Path, report: FileReport): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    report.error('wrong-type', path, 'kubeletVersions has to be a list', 'write it as ["1.33", "1.34"]');
    return [];
  }
  const versions = value.flatMap((item, index) => {
    const minor = typeof item === 'string' ? minorNumber(item) : undefined;
    if (minor !== undefined && minor >= OLDEST_MINOR) return [minorName(minor)];
    // 1.30 without quotes is the number 1.3.
    const suggestion = typeof item === 'number' ? 'write the version in quotes, such as "1.30"' : 'write it as "1.34"';
    report.error(
      'bad-version',
      [...path, index],
      `${abbreviateJson(item)} is not a Kubernetes version from ${minorName(OLDEST_MINOR)} on`,
      suggestion,
    );
    return [];
  });
  return [...new Set(versions)];
}
