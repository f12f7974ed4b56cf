import { API_VERSION } from '#shared/contract/api/group.ts';
import type { Path } from '#shared/contract/kubelet-config/decode/position.ts';
import { show } from '#shared/contract/kubelet-config/decode/show.ts';
import { NO_FIELD_POLICY } from '#shared/contract/kubelet-config/field-policy.ts';
import { minorName, minorNumber, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { ClusterConfig } from './loaded.ts';
import { readFieldPolicy } from './read-field-policy.ts';
import { readAmount } from './read-scalars.ts';
import { checkHeader, type FileReport, readMap } from './report.ts';

/** What holds for a cluster without a file of its own. */
export const DEFAULT_CLUSTER: ClusterConfig = {
  kubeletVersions: [],
  maxUnassign: '20%',
  maxChange: '100%',
  maxUnavailable: null,
  suspend: false,
  windows: null,
  fields: NO_FIELD_POLICY,
};

/**
 * What counts when a cluster's file cannot be read: nothing may be unassigned, because what it allowed is not known.
 * Everything else goes on.
 */
export const UNREADABLE_CLUSTER: ClusterConfig = { ...DEFAULT_CLUSTER, maxUnassign: 0 };

/**
 * A `clusters/<cluster>.yaml`. What is wrong in it is in the report; the versions that can be read count all the same,
 * but no allowance is taken from a file with an error in it.
 */
export function readCluster(document: unknown, cluster: string, report: FileReport): ClusterConfig {
  const root = readMap(document, [], ['apiVersion', 'kind', 'metadata', 'spec'], report) ?? {};
  checkHeader(root, { apiVersion: API_VERSION, kind: 'ClusterConfig', name: cluster }, report);
  const spec = readMap(root.spec, ['spec'], ['kubeletVersions', 'maxUnassign', 'fields'], report) ?? {};
  const kubeletVersions = readVersions(spec.kubeletVersions, ['spec', 'kubeletVersions'], report);
  const rule = { min: 0, default: DEFAULT_CLUSTER.maxUnassign };
  const maxUnassign = readAmount(spec.maxUnassign, ['spec', 'maxUnassign'], rule, report);
  const fields = readFieldPolicy(spec.fields, ['spec', 'fields'], report);
  // What a broken file denies stays denied; what it allows does not count.
  return report.findings.length === 0
    ? { ...DEFAULT_CLUSTER, kubeletVersions, maxUnassign, fields }
    : { ...UNREADABLE_CLUSTER, kubeletVersions, fields: { allow: [], deny: fields.deny } };
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
      `${show(item)} is no Kubernetes version from ${minorName(OLDEST_MINOR)} on`,
      suggestion,
    );
    return [];
  });
  return [...new Set(versions)];
}
