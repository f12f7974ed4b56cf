import { counted, firstNames } from '../../import/format-lists.ts';
import { SOURCE_WORDS } from './words.ts';
import { joinLines } from '../../one-line.ts';
import type { Paint, Tone } from '../../paint.ts';
import type {
  AuditChanges,
  AuditCheck,
  AuditReport,
  AuditSection,
  CheckedNodes,
  Evidence,
  UnseenNodes,
} from '../audit-report.ts';

/** Of each section, checks that are only worth knowing or cannot be seen. */
const MOST_NOTES = 6;

/** For people at a terminal. */
export function reportAsText(report: AuditReport, paint: Paint): string {
  const { at, source, nodes, unseen, sections, since } = report;
  const head = `${source.of}, ${SOURCE_WORDS[source.from]}, ${at}: ${nodes.seen} of ${counted(nodes.of, 'node')} seen`;
  return `${joinLines([
    paint('strong', head),
    ...source.notes.map((note) => paint('quiet', note)),
    ...unseen.flatMap((of) => unseenLines(of, paint)),
    ...sections.flatMap((section) => ['', ...sectionLines(section, paint)]),
    ...(since === undefined ? [] : ['', ...changeLines(since, paint)]),
  ])}\n`;
}

const unseenLines = ({ reason, because, right, nodes }: UnseenNodes, paint: Paint): readonly string[] => [
  `${paint(reason === 'not-ready' ? 'busy' : 'bad', 'not seen')}: ${firstNames(nodes)}: ${because}${
    right === undefined ? '' : ` (the right ${right} is missing)`
  }`,
];

function sectionLines({ title, summary, result, checks }: AuditSection, paint: Paint): readonly string[] {
  const tone: Tone = result === 'fail' ? 'bad' : result === 'pass' ? 'good' : 'busy';
  const failed = checks.filter((check) => check.result === 'fail');
  const notes = checks.filter((check) => check.result === 'info');
  const hidden = checks.filter((check) => check.result === 'not-visible');
  const more = notes.length - MOST_NOTES;
  return [
    `${paint(tone, paint('strong', title))}: ${summary}`,
    ...failed.flatMap((check) => failureLines(check, paint)),
    ...notes
      .slice(0, MOST_NOTES)
      .flatMap((check) => [`  ${paint('busy', 'note')} ${check.title}`, ...groupLines(check)]),
    ...(more > 0 ? [`  … and ${more} more notes: -o json has all`] : []),
    ...(hidden.length === 0 ? [] : [`  ${paint('quiet', 'not visible')}: ${hiddenTitles(hidden)}`]),
  ];
}

const hiddenTitles = (checks: readonly AuditCheck[]): string =>
  [
    ...checks
      .slice(0, MOST_NOTES)
      .map(({ title, references: [first] }) => (first === undefined ? title : `${title} (${first})`)),
    ...(checks.length > MOST_NOTES ? [`and ${checks.length - MOST_NOTES} more`] : []),
  ].join('; ');

function failureLines(check: AuditCheck, paint: Paint): readonly string[] {
  const { title, severity, because, references, fix } = check;
  const others = references.length === 0 ? '' : paint('quiet', ` (${references.join(', ')})`);
  return [
    `  ${paint(severity === 'low' ? 'busy' : 'bad', `FAIL ${severity}`)} ${title}${others}`,
    ...(because === undefined ? [] : [`    ${because}`]),
    ...groupLines(check),
    ...(fix === undefined ? [] : fixLines(fix)),
  ];
}

function fixLines({ yaml, how }: NonNullable<AuditCheck['fix']>): readonly string[] {
  if (yaml === undefined) return how === undefined ? [] : [`    fix: ${how}`];
  const lines = yaml
    .trimEnd()
    .split('\n')
    .map((line) => `      ${line}`);
  return ['    fix:', ...lines, ...(how === undefined ? [] : [`      # ${how}`])];
}

/** Who passes needs no line. */
const groupLines = ({ groups, result }: AuditCheck): readonly string[] =>
  groups.filter((group) => group.result === result).map((group) => `    ${groupLine(group)}`);

function groupLine({ count: number, nodes, evidence }: CheckedNodes): string {
  const who = `${counted(number, 'node')} (${firstNames(nodes)})`;
  return evidence.length === 0 ? who : `${who}: ${evidence.map(evidenceText).join(', ')}`;
}

function evidenceText({ field, value, by, place }: Evidence): string {
  const from = place ?? (by === 'default' ? 'the default' : undefined);
  return `${field}: ${value}${from === undefined ? '' : ` (${from})`}`;
}

function changeLines({ at, fresh, gone }: AuditChanges, paint: Paint): readonly string[] {
  if (fresh.length + gone.length === 0) return [`Since ${at}: nothing is new, nothing is gone`];
  return [
    `${paint('strong', `Since ${at}`)}: ${fresh.length} new, ${gone.length} gone`,
    ...fresh.map(({ id, nodes }) => `  ${paint('bad', 'new')} ${id}: ${firstNames(nodes)}`),
    ...gone.map(({ id, nodes }) => `  ${paint('good', 'gone')} ${id}: ${firstNames(nodes)}`),
  ];
}
