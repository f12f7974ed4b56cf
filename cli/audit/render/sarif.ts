import { createHash } from 'node:crypto';
import { countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { relativeUri, sarifLog, sarifMessage } from '../../sarif-log.ts';
import type { AuditCheck, AuditReport, CheckedNodes, Evidence, Severity, UnseenNodes } from '../audit-report.ts';
import { evidenceLine, MOST_NAMES } from './words.ts';

const LEVELS = { high: 'error', medium: 'warning', low: 'note' } as const satisfies Record<Severity, string>;
/** How GitHub ranks what bears on security: high, medium, low. */
const SCORES = { high: '8.0', medium: '5.0', low: '3.0' } as const satisfies Record<Severity, string>;

/**
 * SARIF 2.1.0. Every check is a rule. What failed is a result for each way in which it did, with the nodes as its places (the first
 * `MOST_NAMES`, as GitHub keeps them); what could not be seen is a notification, because forges take every result for a fault.
 */
export function asSarif({ at, source, sections, unseen }: AuditReport): string {
  const checks = sections.flatMap((section) => section.checks);
  const isSafety = new Set(sections.filter(({ id }) => id === 'safety').flatMap((section) => section.checks));
  const notifications = [
    ...unseen.map(unseenNotification),
    ...checks.filter(({ result }) => result === 'not-visible').map(hiddenNotification),
  ];
  return sarifLog(
    checks.map((check) => ruleOf(check, isSafety.has(check))),
    {
      // GitHub keeps the results of each such id apart: another cluster's must not take the place of these.
      automationDetails: { id: `kubelet-gitops-audit/${encodeURIComponent(source.of.toWellFormed())}/` },
      invocations: [
        {
          executionSuccessful: unseen.every(({ reason }) => reason === 'not-ready'),
          endTimeUtc: at,
          toolExecutionNotifications: notifications,
        },
      ],
      results: checks.flatMap(resultsOf),
    },
  );
}

function ruleOf({ id, title, severity, because, fix, references }: AuditCheck, isSafety: boolean) {
  const how = [fix?.how, fix?.yaml].filter((part) => part !== undefined);
  const text = [...(how.length === 0 ? [title] : how), ...references].join('\n');
  return {
    id,
    shortDescription: sarifMessage(title),
    fullDescription: sarifMessage(because ?? title),
    help: sarifMessage(text),
    defaultConfiguration: { level: LEVELS[severity] },
    properties: {
      tags: isSafety ? ['kubelet', 'security'] : ['kubelet'],
      ...(isSafety ? { 'security-severity': SCORES[severity] } : {}),
    },
  };
}

/** Groups that failed by the same settings are one result: what was measured is different at every look. */
function resultsOf(check: AuditCheck) {
  const failed = check.groups.filter(({ result }) => result === 'fail');
  return [...Map.groupBy(failed, settingsOf)].map(([settings, groups]) => ({
    ruleId: check.id,
    level: LEVELS[check.severity],
    message: sarifMessage([check.because ?? check.title, ...groups.map(groupLine)].join('\n')),
    locations: placesOf(groups),
    partialFingerprints: { primaryLocationLineHash: `${hashOf(JSON.stringify([check.id, settings]))}:1` },
  }));
}

const MEASURED: readonly Evidence['by'][] = ['node', 'kubelet', 'prometheus'];

/** What stays the same as long as nobody changes a config. */
const settingsOf = ({ evidence }: CheckedNodes): string =>
  JSON.stringify(evidence.map(({ field, value, by }) => [field, by, MEASURED.includes(by) ? '' : value]));

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const groupLine = ({ count, nodes, evidence }: CheckedNodes): string =>
  [`${countOf(count, 'node')} (${firstFew(nodes)})`, ...evidence.map((each) => `- ${evidenceLine(each)}`)].join('\n');

/** The line of the repository, where one gives the value; then nodes, as files that exist nowhere: forges ask for some file. */
function placesOf(groups: readonly CheckedNodes[]) {
  const written = new Set(groups.flatMap(({ evidence }) => evidence.flatMap(writtenPlace)));
  const files = [...written].map((place) => {
    const [, path = place, line] = /^(.*):(\d{1,9})$/s.exec(place) ?? [];
    const region = Number(line) > 0 ? { region: { startLine: Number(line) } } : {};
    return { physicalLocation: { artifactLocation: { uri: relativeUri(path) }, ...region } };
  });
  const nodes = groups
    .flatMap((group) => group.nodes)
    .map((name) => ({
      physicalLocation: { artifactLocation: { uri: `nodes/${relativeUri(name)}` } },
      logicalLocations: [{ name, kind: 'resource', fullyQualifiedName: `nodes/${name}` }],
    }));
  return [...files, ...nodes].slice(0, MOST_NAMES);
}

const writtenPlace = ({ by, place }: Evidence): readonly string[] =>
  by === 'repository' && place !== undefined ? [place] : [];

const unseenNotification = ({ reason, because, right, nodes }: UnseenNodes) => ({
  level: reason === 'not-ready' ? 'note' : 'error',
  message: sarifMessage(
    `${countOf(nodes.length, 'node')} (${firstFew(nodes)}): ${because}${right === undefined ? '' : `; missing right: ${right}`}`,
  ),
});

const hiddenNotification = ({ id, title, because }: AuditCheck) => ({
  level: 'note',
  associatedRule: { id },
  message: sarifMessage(`cannot be seen: ${title}${because === undefined ? '' : `: ${because}`}`),
});
