import { formatFinding } from '#shared/contract/finding.ts';
import { formatConflicts } from '#reconciler/policy/pool-selection/conflict-lines.ts';
import type { Paint } from '../../paint.ts';
import { renderTable } from '../../text-table.ts';
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
  counterpartLines,
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
  unsupportedLines,
  waitLines,
  warningLines,
} from './plan-lines.ts';

export function planAsText(plan: MergePlan, paint: Paint): string {
  const { base, head, cluster, refusal, held, knowsNodes } = plan;
  const inForce = inForceLine(plan);
  const lines = [
    paint('strong', `From ${base} to ${head}, for cluster ${cluster}`),
    ...(inForce === undefined ? [] : [paint('busy', inForce)]),
    '',
  ];
  const adopted = plan.pools.filter(isAdopted).map(adoptedLine);
  const summary = summaryLine(plan);
  if (isEmptyPlan(plan)) return `${[...lines, 'Nothing changes.', ...adopted].join('\n')}\n`;
  if (refusal !== undefined) lines.push(paint('bad', `Refused as a whole: ${refusal}`), '');
  if (summary !== undefined) lines.push(paint('strong', summary), '');
  const wide = [
    ...loosenedLines(plan).map((line) => paint('bad', `! ${line}`)),
    ...reachLines(plan).map((line) => paint('quiet', line)),
  ];
  lines.push(...wide, ...(wide.length > 0 ? [''] : []));
  if (held !== undefined) lines.push(paint('bad', `Nothing new would start: ${held}`), '');
  const [clusterHead, ...clusterLines] = clusterBlock(plan) ?? [];
  if (clusterHead !== undefined) {
    lines.push(paint('strong', clusterHead), ...clusterLines.map((line) => `  ${line}`));
    lines.push(...comingLines(plan).map((line) => paint('busy', `  ! ${line}`)), '');
  }
  for (const pools of groupSimilarPools(plan.pools)) lines.push(...poolLines(pools, plan, paint), '');
  for (const move of plan.moves) lines.push(...movedLines(move, paint));
  if (plan.moves.length > 0) lines.push('');
  for (const line of formatConflicts(plan.conflicts)) lines.push(paint('bad', `Conflict: ${line}`));
  if (plan.conflicts.length > 0) lines.push('');
  const lacking = counterpartLines(plan);
  lines.push(...lacking.map((line) => paint('busy', `! ${line}`)), ...(lacking.length > 0 ? [''] : []));
  const unsupported = unsupportedLines(plan);
  lines.push(...unsupported.map((line) => paint('quiet', line)), ...(unsupported.length > 0 ? [''] : []));
  for (const finding of otherFindings(plan))
    lines.push(
      paint(finding.severity === 'error' || finding.kind === 'security' ? 'bad' : 'busy', formatFinding(finding)),
    );
  const notes = [
    ...legendLines(plan),
    ...(knowsNodes ? [] : ['No nodes were given: --inventory or --kubeconfig adds what it does to them.']),
  ];
  if (notes.length > 0 && lines.at(-1) !== '') lines.push('');
  lines.push(...notes.map((line) => paint('quiet', line)));
  return `${lines.join('\n').trimEnd()}\n`;
}

function movedLines(move: MovePlan, paint: Paint): readonly string[] {
  const { fields, cost } = move;
  const rows = fields.map((field) => {
    const [before, after] = sidesOf(move, field);
    return [`  ${field.path}`, before, '→', after];
  });
  return [
    paint(move.to === null ? 'bad' : 'strong', `Moves: ${moveLine(move)}`),
    ...renderTable(rows),
    ...(cost === undefined ? [] : [paint('quiet', `  cost: ${COST_WORDS[cost]}`)]),
    ...leavingLines(move).map((line) => `  ${line}`),
  ];
}

function poolLines(pools: SimilarPools, { knowsNodes, moves }: MergePlan, paint: Paint): readonly string[] {
  const [pool] = pools;
  const { fields, spec, cost, change } = pool;
  const nodes = pools.flatMap((each) => each.nodes);
  const table = renderTable(
    fields.map((field) => {
      const [before, after] = sidesOf(pool, field);
      return [`  ${field.path}`, before, '→', after];
    }),
  );
  return [
    isAdopted(pool)
      ? paint('strong', adoptedLine(pool))
      : paint(change === 'removed' || change === 'invalid' ? 'bad' : 'strong', headOf(pools, moves)),
    ...keptLines(pools).map((line) => paint('quiet', `  ${line}`)),
    ...table,
    ...spec.map((line) => `  ${line}`),
    ...classLines(pool).map((line) => `  ${line}`),
    ...(cost === undefined ? [] : [paint('quiet', `  cost: ${COST_WORDS[cost]}`)]),
    ...risksOf(pool).map(({ paths, risk }) => paint('busy', `  ! ${paths.join(', ')}: ${risk}`)),
    ...waitLines(pools).map((line) => paint('bad', `  ! ${line}`)),
    ...rolloutBlocks(pools, knowsNodes).flatMap(({ line, order }) => [
      `  ${line}`,
      ...order.map((each) => paint('quiet', `  ${pools.length === 1 ? '' : '  '}${each}`)),
    ]),
    ...(isAdopted(pool) ? [] : takeOverLines(nodes)).map((line) => paint('quiet', `  ${line}`)),
    ...capacityLines(nodes).map((line) => `  ${line}`),
    ...warningLines(nodes).map((line) => paint('bad', `  ! ${line}`)),
  ];
}
