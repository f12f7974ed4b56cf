import { gzipSync } from 'node:zlib';
import {
  AUDIT_CONFIG_MAP,
  AUDIT_REPORT_KEY,
  AUDIT_SUMMARY_KEY,
  type AuditSummary,
  SEVERITIES,
} from '#shared/contract/audit-summary.ts';
import { CONFIG_MAPS, type Kube } from '#shared/kube/kube.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { AuditReport } from './audit-report.ts';

/** A ConfigMap holds 1 MiB (MaxSecretSize in k8s.io/kubernetes/pkg/apis/core), the summary's few hundred bytes among it. */
const MOST_BYTES = 1_000_000;

/** @returns what the ConfigMap is to hold: a report that is too long for it is left out */
export function publishedData(report: AuditReport): {
  readonly data: Readonly<Record<string, string>>;
  readonly binaryData: Readonly<Record<string, string | null>>;
} {
  const packed = gzipSync(JSON.stringify(report));
  const fits = packed.length <= MOST_BYTES;
  return {
    data: { [AUDIT_SUMMARY_KEY]: JSON.stringify(summaryOf(report)) },
    // In a merge patch, null takes an earlier one away.
    binaryData: { [AUDIT_REPORT_KEY]: fits ? packed.toString('base64') : null },
  };
}

function summaryOf({ at, nodes, sections }: AuditReport): AuditSummary {
  const failed = sections.flatMap(({ id: section, checks }) =>
    SEVERITIES.map((severity) => ({
      section,
      severity,
      checks: checks.filter((each) => each.result === 'fail' && each.severity === severity).length,
    })),
  );
  return { at, nodes, failed };
}

/**
 * Writes into the ConfigMap, which has to be there: a right to create could not name it.
 *
 * @returns whether the report was short enough to be in it
 * @throws GitopsError `NO_CONFIG_MAP`; KubeError
 */
export async function publishReport(kube: Kube, namespace: string, report: AuditReport): Promise<boolean> {
  const content = publishedData(report);
  await kube
    .mergePatch({ resource: CONFIG_MAPS, namespace }, AUDIT_CONFIG_MAP, content)
    .catch((error: unknown): never => {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
      const command = `kubectl -n ${namespace} create configmap ${AUDIT_CONFIG_MAP}`;
      throw new GitopsError('NO_CONFIG_MAP', `there is no ConfigMap ${AUDIT_CONFIG_MAP} to publish in: ${command}`);
    });
  return content.binaryData[AUDIT_REPORT_KEY] !== null;
}
