import { formatFinding } from '#shared/contract/finding.ts';
import { isAdopted, isEmptyPlan } from '../make-plan.ts';
import type { Plan, PoolPlan } from '../plan.ts';
import {
  adoptedLine,
  capacityLines,
  COST_WORDS,
  headOf,
  moveLines,
  orderLines,
  risksOf,
  rolloutLine,
  sidesOf,
  warningLines,
} from './lines.ts';

/** By which a comment is found again, to be changed instead of repeated. */
export const markerOf = (cluster: string): string => `<!-- kubelet-gitops plan: ${cluster} -->`;

/** Longest that forges take as one comment, with room for what wraps it. */
const MOST_CHARACTERS = 60_000;

/** For a comment on the pull request. */
export function planAsMarkdown(plan: Plan): string {
  const { cluster, refusal, conflicts, findings, knowsNodes } = plan;
  const parts = [markerOf(cluster), `### kubelet-gitops: what this does to \`${cluster}\``];
  const isEmpty = isEmptyPlan(plan);
  if (isEmpty) {
    const adopted = plan.pools.filter(isAdopted).map((pool) => `- ${escape(adoptedLine(pool))}`);
    parts.push(adopted.length === 0 ? 'Nothing changes on any node.' : `Nothing changes.\n\n${adopted.join('\n')}`);
  }
  if (refusal !== undefined) parts.push(`> [!CAUTION]\n> **Refused as a whole:** ${escape(refusal)}`);
  if (!isEmpty) parts.push(...plan.pools.map(poolPart));
  const notes = [
    ...(isEmpty ? [] : moveLines(plan)).map((line) => `- moves: ${escape(line)}`),
    ...conflicts.map(
      ({ node, pools }) =>
        `- **conflict:** \`${node}\` is selected by ${pools.join(' and ')} with the same priority, and is left as it is`,
    ),
    ...findings.map((finding) => `- ${code(formatFinding(finding))}`),
  ];
  if (notes.length > 0) parts.push(notes.join('\n'));
  if (!knowsNodes && !isEmpty) parts.push('_Nodes are not known here: no inventory was given._');
  const whole = `${parts.join('\n\n')}\n`;
  return whole.length <= MOST_CHARACTERS
    ? whole
    : `${whole.slice(0, MOST_CHARACTERS).replace(/\n[^\n]*$/, '')}\n\n_Cut: run \`kubelet-gitops plan\` for the rest._\n`;
}

function poolPart(pool: PoolPlan): string {
  const { fields, spec, nodes, cost } = pool;
  const rows = fields.map((field) => {
    const [before, after] = sidesOf(field).map(code);
    return `| \`${field.path}\` | ${before} | ${after} | ${COST_WORDS[field.cost]} |`;
  });
  const table =
    rows.length === 0 ? [] : [['| field | before | after | costs |', '| --- | --- | --- | --- |', ...rows].join('\n')];
  const rollout = rolloutLine(pool);
  const items = [
    ...spec.map((line) => `- ${code(line)}`),
    ...(rollout === undefined ? [] : [`- **${rollout}**`]),
    ...orderLines(pool).map((line) => `  - ${escape(line)}`),
    ...(cost === undefined ? [] : [`- costs each node: ${COST_WORDS[cost]}`]),
    ...capacityLines(nodes).map((line) => `- ${escape(line)}`),
    ...warningLines(nodes).map((line) => `- ❌ ${escape(line)}`),
    ...risksOf(pool).map(({ paths, risk }) => `- ⚠️ ${paths.map(code).join(', ')}: ${risk}`),
  ];
  const head = isAdopted(pool)
    ? [`#### Pool ${headOf(pool)}`, escape(adoptedLine(pool))]
    : [`#### Pool ${headOf(pool)}`];
  return [...head, ...table, ...(items.length === 0 ? [] : [items.join('\n')])].join('\n\n');
}

/** Text of others must not become markup, nor end a table's cell. */
const escape = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>|]/g, '\\$&');

function code(text: string): string {
  const plain = text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const fence = plain.includes('`') ? '``' : '`';
  return fence === '`' ? `\`${plain}\`` : `${fence} ${plain} ${fence}`;
}
