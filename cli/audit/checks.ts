import { stringify } from 'yaml';
import { covers, DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import {
  type AuditCheck,
  type AuditSection,
  BOUNDS,
  type CheckedNodes,
  type CheckResult,
  type Evidence,
  type Fix,
  SEVERITIES,
} from './audit-report.ts';

/** What one check says of one node. */
export interface Verdict {
  readonly result: CheckResult;
  readonly evidence: readonly Evidence[];
}

/** A check before it met any node. */
export type Rule = Omit<AuditCheck, 'result' | 'groups'>;

/** By the name of a node. */
export type Verdicts = readonly (readonly [node: string, verdict: Verdict])[];

const RESULTS: readonly CheckResult[] = ['fail', 'not-visible', 'info', 'pass'];

const rankOf = (result: CheckResult): number => RESULTS.indexOf(result);

const worstOf = (of: readonly { readonly result: CheckResult }[]): CheckResult =>
  RESULTS.find((result) => of.some((each) => each.result === result)) ?? 'pass';

const keyOf = ({ result, evidence }: Verdict): string =>
  JSON.stringify([result, evidence.map(({ field, value, by }) => [field, value, by])]);

/** Made once: with it a thousand names are sorted ten times as fast as with localeCompare, which makes one for each comparison. */
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

/** The check with its nodes, grouped by result and evidence. */
export function checkOf(rule: Rule, verdicts: Verdicts): AuditCheck {
  const keys = new Map<Verdict, string>();
  const grouped = Map.groupBy(verdicts, ([, verdict]) => {
    // Nodes that were judged once have one verdict.
    const key = keys.get(verdict) ?? keyOf(verdict);
    keys.set(verdict, key);
    return key;
  });
  const groups = [...grouped.values()]
    .map(groupOf)
    .toSorted((one, other) => rankOf(one.result) - rankOf(other.result) || other.count - one.count);
  const kept = groups.length <= BOUNDS.groups ? groups : groups.slice(0, BOUNDS.groups - RESULTS.length);
  const rest = groups.slice(kept.length);
  const joined = RESULTS.flatMap((result): readonly CheckedNodes[] => {
    const of = rest.filter((each) => each.result === result);
    return of.length === 0
      ? []
      : [
          {
            result,
            ...namesOf(of.flatMap(({ nodes }) => nodes)),
            evidence: [],
          },
        ];
  });
  const all = [...kept, ...joined].map((group) =>
    group.result === 'pass' ? { ...group, nodes: group.nodes.slice(0, BOUNDS.passedNames) } : group,
  );
  const { fix, ...said } = rule;
  // Who passes needs none.
  const isFault = all.some(({ result }) => result === 'fail' || result === 'info');
  return { ...said, result: worstOf(all), groups: all, ...(fix === undefined || !isFault ? {} : { fix }) };
}

function groupOf(verdicts: Verdicts): CheckedNodes {
  const [[, first]] = verdicts as [Verdicts[number]];
  // A file of its own for each node says nothing of the group.
  const evidence = first.evidence.slice(0, BOUNDS.evidence).map(({ place, field, value, ...rest }, index) => {
    const plain = { field: cut(field), value: cut(value), ...rest };
    const isShared = verdicts.every(([, verdict]) => verdict.evidence[index]?.place === place);
    return place !== undefined && isShared ? { ...plain, place } : plain;
  });
  const names = verdicts.map(([name]) => name);
  return { result: first.result, ...namesOf(names), evidence };
}

/** Kubelets may say anything. */
export const cut = (text: string): string =>
  text.length <= BOUNDS.value ? text : `${text.slice(0, BOUNDS.value - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

const namesOf = (names: readonly string[]): Pick<CheckedNodes, 'count' | 'nodes'> => ({
  count: names.length,
  nodes: names.toSorted(BY_NUMBER.compare),
});

/** A section with its checks in their order. */
export function sectionOf(section: Omit<AuditSection, 'result'>): AuditSection {
  const checks = section.checks.toSorted(
    (one, other) =>
      rankOf(one.result) - rankOf(other.result) ||
      SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
      BY_NUMBER.compare(one.id, other.id),
  );
  return { ...section, checks, result: worstOf(checks) };
}

/** `3 of 14 checks fail, 2 are not visible`. */
export function tally(checks: readonly AuditCheck[]): string {
  const of = (result: CheckResult): number => checks.filter((check) => check.result === result).length;
  const hidden = of('not-visible');
  const seen = checks.length - hidden;
  const failed = of('fail');
  const first = failed === 0 ? `${seen} checks pass` : `${failed} of ${seen} checks fail`;
  return hidden === 0 ? first : `${first}, ${hidden} cannot be seen`;
}

/** The part of a KubeletConfiguration that sets these fields. */
export function fixOf(values: Readonly<Record<string, unknown>>, how?: string): Fix {
  const config: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(values)) {
    const keys = field.split('.');
    let at = config;
    for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    at[keys.at(-1) ?? ''] = value;
  }
  const isDenied = Object.keys(values).some((field) => covers(Object.keys(DENIED_BY_DEFAULT), field));
  const own = isDenied ? 'set it in the node’s own config or flags: pools may not set it by default' : undefined;
  const said = [how, own].filter((part) => part !== undefined).join('; ');
  return { yaml: stringify(config), ...(said === '' ? {} : { how: said }) };
}
