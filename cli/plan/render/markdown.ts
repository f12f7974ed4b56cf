import { formatFinding } from '#shared/contract/finding.ts';
import { conflictLines } from '#reconciler/policy/assign/conflict-lines.ts';
import { isAdopted, isEmptyPlan } from '../make-plan.ts';
import type { MergePlan } from '../plan.ts';
import { type AlikePools, alikePools } from './alike.ts';
import {
  adoptedLine,
  capacityLines,
  COST_WORDS,
  headOf,
  inForceLine,
  keptLines,
  moveLines,
  risksOf,
  rolloutBlocks,
  sidesOf,
  takeOverLines,
  waitLines,
  warningLines,
} from './lines.ts';

/** By which a comment is found again, to be changed instead of repeated. */
const markerOf = (cluster: string): string => `<!-- kubelet-gitops plan: ${cluster} -->`;

/** Longest that forges take as one comment, with room for what wraps it. */
const MOST_CHARACTERS = 60_000;

/** For a comment on the pull request. */
export function planAsMarkdown(plan: MergePlan): string {
  const { cluster, refusal, held, clusterSpec, findings, knowsNodes } = plan;
  const parts = [markerOf(cluster), `### kubelet-gitops: what this does to \`${cluster}\``];
  const inForce = inForceLine(plan);
  if (inForce !== undefined) parts.push(`> [!WARNING]\n> ${escape(inForce)}`);
  const isEmpty = isEmptyPlan(plan);
  if (isEmpty) {
    const adopted = plan.pools.filter(isAdopted).map((pool) => `- ${escape(adoptedLine(pool))}`);
    parts.push(adopted.length === 0 ? 'Nothing changes on any node.' : `Nothing changes.\n\n${adopted.join('\n')}`);
  }
  if (refusal !== undefined) parts.push(`> [!CAUTION]\n> **Refused as a whole:** ${escape(refusal)}`);
  if (held !== undefined && !isEmpty) parts.push(`> [!WARNING]\n> **Nothing new would be begun:** ${escape(held)}`);
  if (clusterSpec.length > 0)
    parts.push(`#### clusters/${cluster}.yaml changes\n\n${clusterSpec.map((line) => `- ${code(line)}`).join('\n')}`);
  if (!isEmpty) parts.push(...alikePools(plan.pools).map((pools) => poolPart(pools, knowsNodes)));
  const notes = [
    ...(isEmpty ? [] : moveLines(plan)).map((line) => `- moves: ${escape(line)}`),
    ...conflictLines(plan.conflicts).map((line) => `- **conflict:** ${escape(line)}`),
    ...findings.map((finding) => `- ${finding.kind === 'security' ? '🔓 ' : ''}${code(formatFinding(finding))}`),
  ];
  if (notes.length > 0) parts.push(notes.join('\n'));
  if (!knowsNodes && !isEmpty) parts.push('_Nodes are not known here: no inventory was given._');
  const whole = `${parts.join('\n\n')}\n`;
  return whole.length <= MOST_CHARACTERS
    ? whole
    : `${whole.slice(0, MOST_CHARACTERS).replace(/\n[^\n]*$/, '')}\n\n_Cut: run \`kubelet-gitops plan\` for the rest._\n`;
}

function poolPart(pools: AlikePools, knowsNodes: boolean): string {
  const [pool] = pools;
  const { fields, spec, cost } = pool;
  const nodes = pools.flatMap((each) => each.nodes);
  const rows = fields.map((field) => {
    const [before, after] = sidesOf(field).map(code);
    return `| \`${field.path}\` | ${before} | ${after} | ${COST_WORDS[field.cost]} |`;
  });
  const table =
    rows.length === 0 ? [] : [['| field | before | after | costs |', '| --- | --- | --- | --- |', ...rows].join('\n')];
  const items = [
    ...spec.map((line) => `- ${code(line)}`),
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
    `#### ${headOf(pools)}`,
    ...keptLines(pools).map(escape),
    ...(isAdopted(pool) ? [escape(adoptedLine(pool))] : []),
  ];
  return [...head, ...table, ...(items.length === 0 ? [] : [items.join('\n')])].join('\n\n');
}

/** Text of others must not become markup, nor end a table's cell. */
const escape = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>|]/g, '\\$&');

function code(text: string): string {
  const plain = text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const fence = plain.includes('`') ? '``' : '`';
  return fence === '`' ? `\`${plain}\`` : `${fence} ${plain} ${fence}`;
}
