import { countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { escapeXml } from '../../xml-text.ts';
import type { AuditCheck, AuditReport, AuditSection, UnseenNodes } from '../audit-report.ts';
import { evidenceLine, MOST_NAMES } from './words.ts';

type Outcome = 'failure' | 'error' | 'skipped' | 'system-out';

interface Case {
  readonly suite: string;
  readonly name: string;
  /** Absent where there is nothing to say. */
  readonly said?: { readonly outcome: Outcome; readonly message: string; readonly text: string };
}

/** JUnit's XML: a suite for each section, a case for each check; what nobody can see is skipped. */
export function asJunit({ sections, unseen }: AuditReport): string {
  const suites = [
    ...(unseen.length === 0 ? [] : [{ name: 'Nodes', cases: unseen.map(caseOfUnseen) }]),
    ...sections.map(({ id, title, checks }) => ({ name: title, cases: checks.map((check) => caseOf(id, check)) })),
  ];
  const all = countsOf(suites.flatMap(({ cases }) => cases));
  const body = suites.map(({ name, cases }) => {
    const open = `  <testsuite name="${escapeXml(name)}" ${countsOf(cases)}>`;
    return `${open}\n${cases.map(asXml).join('')}  </testsuite>\n`;
  });
  const root = `<testsuites name="kubelet-gitops audit" ${all}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n${body.join('')}</testsuites>\n`;
}

function countsOf(cases: readonly Case[]): string {
  const of = (outcome: Outcome): number => cases.filter(({ said }) => said?.outcome === outcome).length;
  return `tests="${cases.length}" failures="${of('failure')}" errors="${of('error')}" skipped="${of('skipped')}"`;
}

function asXml({ suite, name, said }: Case): string {
  const open = `    <testcase classname="kubelet-gitops.audit.${escapeXml(suite)}" name="${escapeXml(name)}"`;
  if (said === undefined) return `${open}/>\n`;
  const { outcome, message, text } = said;
  const attribute = outcome === 'system-out' ? '' : ` message="${escapeXml(message)}"`;
  return `${open}>\n      <${outcome}${attribute}>${escapeXml(text)}</${outcome}>\n    </testcase>\n`;
}

/** Nodes that nobody saw passed nothing. */
function caseOfUnseen({ reason, because, right, nodes }: UnseenNodes): Case {
  const outcome = reason === 'not-ready' ? 'skipped' : 'error';
  const missing = right === undefined ? '' : `\nmissing right: ${right}`;
  const text = `${because}${missing}\n${countOf(nodes.length, 'node')}: ${firstFew(nodes, MOST_NAMES)}`;
  return { suite: 'nodes', name: `${reason}: ${because}`, said: { outcome, message: because, text } };
}

const OUTCOMES = { fail: 'failure', 'not-visible': 'skipped', info: 'system-out' } as const;

function caseOf(suite: AuditSection['id'], check: AuditCheck): Case {
  const { id, title, severity, result, because, groups, fix } = check;
  const name = `${title} (${id})`;
  if (result === 'pass') return { suite, name };
  const said = groups
    .filter((group) => group.result === result)
    .map(({ count, nodes, evidence }) =>
      [
        `${countOf(count, 'node')}: ${firstFew(nodes, MOST_NAMES)}`,
        ...evidence.map((each) => `  ${evidenceLine(each)}`),
      ].join('\n'),
    );
  const how = fix?.how === undefined ? [] : [`fix: ${fix.how}`];
  const text = [...said, ...how, ...(fix?.yaml === undefined ? [] : [`fix:\n${fix.yaml}`])].join('\n');
  const prefix = result === 'fail' ? `${severity}: ` : '';
  return { suite, name, said: { outcome: OUTCOMES[result], message: `${prefix}${because ?? title}`, text } };
}
