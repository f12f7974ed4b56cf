import { formatResource } from '#reconciler/policy/allocatable/allocatable.ts';
import { countOf } from '#reconciler/reporting/status-page/render/state-badges.ts';
import { cell, code, escapeMarkdown, fenced, MOST_CHARACTERS } from '../../markdown-text.ts';
import type { AuditCheck, AuditReport, AuditSection, ChangedCheck, CheckedNodes, RoomClass } from '../audit-report.ts';
import { countWith, originOf, RESULT_WORDS, seenLine, split } from './words.ts';

/** What one place has room for; `-o json` has all. */
const MOST = { names: 3, groups: 5, evidence: 4, rows: 12, prose: 400, value: 240, yaml: 1_500 } as const;
/** For what stands before the sections, of all that a comment may have. */
const HEAD_SHARE = 0.3;
const SIGNS = { fail: '❌', 'not-visible': '❔', info: 'ℹ️', pass: '✅' } as const;

/** For a comment on a pull request or an issue: never longer than forges take, the worst first, details folded. */
export function asMarkdown(report: AuditReport): string {
  const { source, sections, unseen, since, at } = report;
  const first = [
    `### kubelet-gitops: audit of ${codeOf(source.of)}`,
    `${prose(seenLine(report))}, as of ${codeOf(at)}.`,
    tableOf(
      ['', 'section', 'summary'],
      sections.map(({ result, title, summary }) => [SIGNS[result], prose(title), prose(summary)]),
    ),
  ];
  const more = [
    ...unseen.map(
      ({ because, right, nodes }) =>
        `> [!WARNING]\n> ${countOf(nodes.length, 'node')} not seen (${namesOf(nodes)}): ${prose(because)}` +
        (right === undefined ? '' : `; missing right: ${codeOf(right)}`),
    ),
    ...source.notes.map((note) => `> ${prose(note)}`),
    ...(since === undefined
      ? []
      : [changes(`New since ${codeOf(since.at)}`, since.fresh), changes(`Gone since ${codeOf(since.at)}`, since.gone)]),
  ];
  const head = fitting([...first, ...more], MOST_CHARACTERS * HEAD_SHARE);
  let room = MOST_CHARACTERS - head.length;
  const told = sections
    .map((section) => [section, blocksOf(section)] as const)
    .filter(([, blocks]) => blocks.length > 0);
  const parts = told.map(([section, blocks], index) => {
    const part = sectionPart(section, blocks, room / (told.length - index));
    room -= part.length + 2;
    return part;
  });
  return `${[head, ...parts].join('\n\n')}\n`;
}

const withResult = ({ checks }: AuditSection, result: AuditCheck['result']): readonly AuditCheck[] =>
  checks.filter((check) => check.result === result);

/** What there is to say of a section beside its summary; nothing where all is well. */
function blocksOf(section: AuditSection): readonly string[] {
  const { groups = [], classes = [] } = section;
  const hidden = withResult(section, 'not-visible');
  return [
    ...[...withResult(section, 'fail'), ...withResult(section, 'info')].map(checkBlock),
    ...(groups.length === 0 ? [] : [groupsTable(groups)]),
    ...(classes.length === 0 ? [] : [classesTable(classes)]),
    ...(hidden.length === 0 ? [] : [listOf(hidden, ({ title }) => `not visible: ${prose(title)}`)]),
  ];
}

function sectionPart(section: AuditSection, blocks: readonly string[], room: number): string {
  const counts = (['fail', 'not-visible', 'info', 'pass'] as const)
    .map((result) => [withResult(section, result).length, RESULT_WORDS[result]] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`);
  const heading = `#### ${prose(section.title)}`;
  const open = `<details><summary>${counts.join(', ') || 'details'}</summary>`;
  const close = '</details>';
  const within = fitting(blocks, room - heading.length - open.length - close.length - 10);
  return [heading, open, within, close].join('\n\n');
}

function checkBlock(check: AuditCheck): string {
  const { id, title, severity, result, because, groups, fix, references } = check;
  const said = groups.filter((group) => group.result === result);
  const word = result === 'fail' ? severity : RESULT_WORDS[result];
  const why = because === undefined ? '' : `: ${prose(because)}`;
  return [
    `${SIGNS[result]} **${prose(title)}**${why} (${word}, ${countOf(countWith(check, result), 'node')}, ${codeOf(id)})`,
    listOf(said, groupLine, MOST.groups),
    ...(fix?.how === undefined ? [] : [`Fix: ${prose(fix.how)}.`]),
    ...(fix?.yaml === undefined ? [] : [fenced(clip(fix.yaml, MOST.yaml), 'yaml')]),
    ...(references.length === 0 ? [] : [`See ${references.slice(0, MOST.groups).map(codeOf).join(', ')}.`]),
  ].join('\n\n');
}

function groupLine({ count, nodes, evidence }: CheckedNodes): string {
  const { first, more } = split(evidence, MOST.evidence);
  const facts = first.map((each) => {
    const origin = originOf(each);
    return `${codeOf(`${each.field}: ${each.value}`)}${origin === '' ? '' : ` (${codeOf(origin)})`}`;
  });
  const rest = more === 0 ? [] : [`${more} more`];
  return `${countOf(count, 'node')} (${namesOf(nodes, count)})${facts.length === 0 ? '' : `: ${[...facts, ...rest].join(', ')}`}`;
}

const changes = (title: string, checks: readonly ChangedCheck[]): string =>
  `**${title}: ${countOf(checks.length, 'check')}**\n` +
  listOf(checks, ({ title: what, severity, nodes }) => `${prose(what)} (${severity}, ${namesOf(nodes)})`);

const groupsTable = (groups: NonNullable<AuditSection['groups']>): string =>
  tableOf(
    ['group', 'nodes', 'kubelets', 'configs'],
    groups.map(({ name, count, versions, configs }) => [
      cellOf(name),
      String(count),
      versions
        .slice(0, MOST.groups)
        .map(({ version }) => cellOf(version))
        .join(', '),
      String(configs.length),
    ]),
  );

const classesTable = (classes: readonly RoomClass[]): string =>
  tableOf(
    ['machines', 'nodes', 'resource', 'capacity', 'reserved', 'used outside of pods'],
    classes.flatMap(({ name, count, resources }) =>
      resources.map(({ resource, capacity, kubeReserved, systemReserved, used }) => [
        cellOf(name),
        String(count),
        resource,
        formatResource(resource, capacity),
        formatResource(resource, kubeReserved + systemReserved),
        used === undefined ? 'not measured' : `at most ${formatResource(resource, used.most)}`,
      ]),
    ),
  );

function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const { first, more } = split(rows, MOST.rows);
  const lines = [headings, headings.map(() => '---'), ...first].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n')}${more === 0 ? '' : `\n\n_and ${more} more_`}`;
}

function listOf<T>(items: readonly T[], line: (item: T) => string, most: number = MOST.rows): string {
  const { first, more } = split(items, most);
  return [...first.map(line), ...(more === 0 ? [] : [`and ${more} more`])].map((each) => `- ${each}`).join('\n');
}

function namesOf(nodes: readonly string[], count = nodes.length): string {
  const first = nodes.slice(0, MOST.names);
  return `${first.map(codeOf).join(', ')}${count > first.length ? ` and ${count - first.length} more` : ''}`;
}

/** As many of the blocks as there is room for, in their order, and how many are left out. */
function fitting(blocks: readonly string[], room: number): string {
  const kept: string[] = [];
  let left = room - 60;
  for (const block of blocks) {
    if (block.length + 2 > left) break;
    left -= block.length + 2;
    kept.push(block);
  }
  const out = blocks.length - kept.length;
  return [...kept, ...(out === 0 ? [] : [`_${out} more left out: \`-o html\` has them._`])].join('\n\n');
}

const clip = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}…`);
const codeOf = (text: string): string => code(clip(text, MOST.value));
const cellOf = (text: string): string => cell(clip(text, MOST.value));
const prose = (text: string): string => escapeMarkdown(clip(text, MOST.prose)).trim();
