import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { formatConflicts } from '#reconciler/policy/pool-selection/conflict-lines.ts';
import { cell, code, escapeMarkdown as escape, MOST_CHARACTERS } from '../../markdown-text.ts';
import { isAdopted, isEmptyPlan } from '../make-plan.ts';
import type { MergePlan, MovePlan } from '../merge-plan.ts';
import { type SimilarPools, groupSimilarPools } from './group-pools.ts';
import { comingLines, legendLines, loosenedLines, otherFindings, reachLines } from './once-for-all.ts';
import {
  adoptedLine,
  capacityLines,
  classLines,
  clusterBlock,
  COST_WORDS,
  headOf,
  inForceLine,
  keptLines,
  leavingLines,
  moveLine,
  risksOf,
  rolloutBlocks,
  sidesOf,
  summaryLine,
  takeOverLines,
  counterpartLines,
  unsupportedLines,
  waitLines,
  warningLines,
} from './plan-lines.ts';

/** By which a comment is found again, to be changed instead of repeated. */
const markerOf = (cluster: string): string => `<!-- kubelet-gitops plan: ${cluster.replaceAll('>', '')} -->`;

/** For the same comment, where there is no plan. */
export const failureAsMarkdown = (cluster: string, reason: string): string =>
  `${markerOf(cluster)}\n\n### kubelet-gitops: no plan for ${code(cluster)}\n\n❌ The plan could not be made: ${escape(reason)}\n`;

/** For a comment on the pull request. */
export function planAsMarkdown(plan: MergePlan): string {
  const { base, head, cluster, refusal, held, knowsNodes } = plan;
  const parts = [
    markerOf(cluster),
    `### kubelet-gitops: what this does to ${code(cluster)}`,
    `From ${code(base)} to ${code(head)}.`,
  ];
  const summary = summaryLine(plan);
  const inForce = inForceLine(plan);
  if (inForce !== undefined) parts.push(`> [!WARNING]\n> ${escape(inForce)}`);
  const isEmpty = isEmptyPlan(plan);
  if (isEmpty) {
    const adopted = plan.pools.filter(isAdopted).map((pool) => `- ${escape(adoptedLine(pool))}`);
    parts.push(adopted.length === 0 ? 'Nothing changes on any node.' : `Nothing changes.\n\n${adopted.join('\n')}`);
  }
  if (refusal !== undefined) parts.push(`> [!CAUTION]\n> **Refused as a whole:** ${escape(refusal)}`);
  if (summary !== undefined && !isEmpty) parts.push(`**${summary}**`);
  const wide = [
    ...loosenedLines(plan).map((line) => `- 🔓 **${escape(line)}**`),
    ...reachLines(plan).map((line) => `- ${escape(line)}`),
  ];
  if (wide.length > 0 && !isEmpty) parts.push(wide.join('\n'));
  if (held !== undefined && !isEmpty) parts.push(`> [!WARNING]\n> **Nothing new would start:** ${escape(held)}`);
  const [clusterHead, ...clusterLines] = clusterBlock(plan) ?? [];
  if (clusterHead !== undefined) {
    const items = [
      ...clusterLines.map((line) => `- ${code(line)}`),
      ...comingLines(plan).map((line) => `- ⚠️ ${escape(line)}`),
    ];
    parts.push(`#### ${escape(clusterHead)}`, ...(items.length === 0 ? [] : [items.join('\n')]));
  }
  if (!isEmpty) parts.push(...groupSimilarPools(plan.pools).map((pools) => poolPart(pools, plan)));
  if (!isEmpty && plan.moves.length > 0) parts.push('#### Moves', ...plan.moves.map(movePart));
  if (!isEmpty) parts.push(...[...counterpartLines(plan), ...unsupportedLines(plan)].map(escape));
  const conflicts = formatConflicts(plan.conflicts).map((line) => `- ❌ ${escape(line)}`);
  if (conflicts.length > 0) parts.push('#### Conflicts', conflicts.join('\n'));
  const found = otherFindings(plan).map((finding) => `- ${signOf(finding)} ${code(formatFinding(finding))}`);
  const last = [
    ...(found.length > 0 ? ['#### Findings', found.join('\n')] : []),
    ...(isEmpty ? [] : legendLines(plan).map((line) => `_${escape(line)}_`)),
    ...(!knowsNodes && !isEmpty ? ['_No inventory was given, so the nodes are unknown._'] : []),
  ].join('\n\n');
  // Half of the room is for what was found: a long change cannot push it out of the comment.
  const first = cut(parts.join('\n\n'), MOST_CHARACTERS - Math.min(last.length, MOST_CHARACTERS / 2));
  return `${last === '' ? first : `${first}\n\n${cut(last, MOST_CHARACTERS - first.length)}`}\n`;
}

/** At the end of a line. */
const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, most).replace(/\n[^\n]*$/, '')}\n\n_Cut: run \`kubelet-gitops plan\` for the rest._`;

const signOf = ({ kind, severity }: Finding): string =>
  kind === 'security' ? '🔓' : severity === 'error' ? '❌' : '⚠️';

function movePart(move: MovePlan): string {
  const { fields } = move;
  const rows = fields.map((field) => {
    const [path, before, after] = [field.path, ...sidesOf(move, field)].map(cell);
    return `| ${path} | ${before} | ${after} | ${COST_WORDS[field.cost]} |`;
  });
  const items = leavingLines(move).map((line) => `- ${escape(line)}`);
  return [
    `${move.to === null ? '❌ ' : ''}${escape(moveLine(move))}`,
    ...(rows.length === 0 ? [] : [tableOf(rows)]),
    ...(items.length === 0 ? [] : [items.join('\n')]),
  ].join('\n\n');
}

const tableOf = (rows: readonly string[]): string =>
  ['| field | before | after | costs |', '| --- | --- | --- | --- |', ...rows].join('\n');

function poolPart(pools: SimilarPools, { knowsNodes, moves }: MergePlan): string {
  const [pool] = pools;
  const { fields, spec, cost } = pool;
  const nodes = pools.flatMap((each) => each.nodes);
  const rows = fields.map((field) => {
    const [path, before, after] = [field.path, ...sidesOf(pool, field)].map(cell);
    return `| ${path} | ${before} | ${after} | ${COST_WORDS[field.cost]} |`;
  });
  const table = rows.length === 0 ? [] : [tableOf(rows)];
  const items = [
    ...spec.map((line) => `- ${code(line)}`),
    ...classLines(pool).map((line) => `- ${escape(line)}`),
    ...waitLines(pools).map((line) => `- ❌ **${escape(line)}**`),
    ...rolloutBlocks(pools, knowsNodes).flatMap(({ line, order }) => [
      `- **${escape(line)}**`,
      ...order.map((each) => `  - ${escape(each)}`),
    ]),
    ...(cost === undefined ? [] : [`- costs each node: ${COST_WORDS[cost]}`]),
    ...(isAdopted(pool) ? [] : takeOverLines(nodes)).map((line) => `- ${escape(line)}`),
    ...capacityLines(nodes).map((line) => `- ${escape(line)}`),
    ...warningLines(nodes).map((line) => `- ❌ ${escape(line)}`),
    ...risksOf(pool).map(({ paths, risk }) => `- ⚠️ ${paths.map(code).join(', ')}: ${risk}`),
  ];
  const head = [
    `#### ${escape(headOf(pools, moves))}`,
    ...keptLines(pools).map(escape),
    ...(isAdopted(pool) ? [escape(adoptedLine(pool))] : []),
  ];
  return [...head, ...table, ...(items.length === 0 ? [] : [items.join('\n')])].join('\n\n');
}
