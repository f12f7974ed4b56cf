import type { KubeObject } from './api/object.ts';
import { isMap } from '../runtime/maps.ts';

/** The ConfigMap that `kubelet-gitops audit --publish` writes into the reconciler's namespace, and its keys. */
export const AUDIT_CONFIG_MAP = 'kubelet-gitops-audit';
export const AUDIT_SUMMARY_KEY = 'summary.json';
/** In `binaryData`: the report of `-o json`, by gzip. */
export const AUDIT_REPORT_KEY = 'report.json.gz';

export const SECTION_IDS = ['sameness', 'safety', 'upgrades', 'room', 'drift'] as const;
export type SectionId = (typeof SECTION_IDS)[number];

/** From the worst to the least. */
export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What an installation shows of the last audit: JSON of a few hundred bytes. */
export interface AuditSummary {
  /** RFC 3339. */
  readonly at: string;
  readonly nodes: { readonly seen: number; readonly of: number };
  /** Every severity of every section that was audited, also with none. */
  readonly failed: readonly { readonly section: SectionId; readonly severity: Severity; readonly checks: number }[];
}

const MOST_BYTES = 8 * 1024;

/** What the ConfigMap says; null where there is none, or nothing that can be understood. Whoever may write it is not trusted. */
export function readAuditSummary(object: KubeObject | null): AuditSummary | null {
  const data = (object as { readonly data?: unknown } | null)?.data;
  const text = isMap(data) ? data[AUDIT_SUMMARY_KEY] : undefined;
  if (typeof text !== 'string' || text.length > MOST_BYTES) return null;
  try {
    return summaryIn(JSON.parse(text));
  } catch {
    return null;
  }
}

function summaryIn(value: unknown): AuditSummary | null {
  if (!isMap(value)) return null;
  const { at, nodes, failed } = value;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || !isMap(nodes) || !Array.isArray(failed)) return null;
  const { seen, of } = nodes;
  if (!isCount(seen) || !isCount(of)) return null;
  return {
    at: new Date(at).toISOString(),
    nodes: { seen, of },
    failed: failed.flatMap((each: unknown) => {
      if (!isMap(each) || !isCount(each['checks'])) return [];
      const section = SECTION_IDS.find((id) => id === each['section']);
      const severity = SEVERITIES.find((word) => word === each['severity']);
      return section === undefined || severity === undefined ? [] : [{ section, severity, checks: each['checks'] }];
    }),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** `3 checks failed (1 high, 2 low) on 58 of 60 nodes, at 2026-11-29 03:00 UTC`: a sentence without a full stop. */
export function sayAudit({ at, nodes, failed }: AuditSummary): string {
  const counts = SEVERITIES.map(
    (severity) =>
      [severity, failed.reduce((sum, each) => sum + (each.severity === severity ? each.checks : 0), 0)] as const,
  ).filter(([, count]) => count > 0);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const by = counts.length === 0 ? '' : ` (${counts.map(([severity, count]) => `${count} ${severity}`).join(', ')})`;
  const what = `${all === 0 ? 'no' : all} check${all === 1 ? '' : 's'} failed${by}`;
  return `${what} on ${nodes.seen} of ${nodes.of} nodes, at ${at.slice(0, 16).replace('T', ' ')} UTC`;
}
