import { countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import type { AuditCheck, AuditReport, CheckResult, Evidence } from '../audit-report.ts';

export const RESULT_WORDS: Readonly<Record<CheckResult, string>> = {
  fail: 'failed',
  'not-visible': 'not visible',
  info: 'worth knowing',
  pass: 'passed',
};

export const SOURCE_WORDS: Readonly<Record<AuditReport['source']['from'], string>> = {
  cluster: 'through the API server',
  direct: 'from the kubelets’ own port',
  files: 'from files',
};

const BY_WORDS: Readonly<Record<NonNullable<Evidence['by']>, string>> = {
  config: 'config file',
  default: 'default of the kubelet',
  flag: 'flag',
  node: 'Node',
  kubelet: 'kubelet',
  prometheus: 'Prometheus',
  repository: 'repository',
};

/** Names of nodes that one place writes out; `-o json` has all. */
export const MOST_NAMES = 100;

/** `58 of 60 nodes said what they run (through the API server)`. */
export const seenLine = ({ nodes, source }: AuditReport): string =>
  `${nodes.seen} of ${countOf(nodes.of, 'node')} said what they run (${SOURCE_WORDS[source.from]})`;

/** What gives a value: `config file /var/lib/kubelet/config.yaml`; empty where that is not known. */
export const originOf = ({ by, place }: Evidence): string =>
  [by === undefined ? '' : BY_WORDS[by], place ?? ''].filter((part) => part !== '').join(' ');

/** `readOnlyPort: 10255 (flag --read-only-port)`. */
export function evidenceLine(evidence: Evidence): string {
  const origin = originOf(evidence);
  return `${evidence.field}: ${evidence.value}${origin === '' ? '' : ` (${origin})`}`;
}

/** Nodes for which a check has a result. */
export const countWith = ({ groups }: AuditCheck, result: CheckResult): number =>
  groups.reduce((sum, group) => sum + (group.result === result ? group.count : 0), 0);

/** The first of them, and how many more there are: `-o json` has all. */
export function split<T>(all: readonly T[], most: number): { readonly first: readonly T[]; readonly more: number } {
  return { first: all.slice(0, most), more: Math.max(0, all.length - most) };
}
