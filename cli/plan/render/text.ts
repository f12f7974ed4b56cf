import { formatFinding } from '#shared/contract/finding.ts';
import type { Paint } from '../../paint.ts';
import { renderTable } from '../../table.ts';
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

export function planAsText(plan: Plan, paint: Paint): string {
  const { base, head, cluster, refusal, conflicts, findings, knowsNodes } = plan;
  const lines = [paint('strong', `From ${base} to ${head}, for cluster ${cluster}`), ''];
  const adopted = plan.pools.filter(isAdopted).map(adoptedLine);
  if (isEmptyPlan(plan)) return `${[...lines, 'Nothing changes.', ...adopted].join('\n')}\n`;
  if (refusal !== undefined) lines.push(paint('bad', `Refused as a whole: ${refusal}`), '');
  for (const pool of plan.pools) lines.push(...poolLines(pool, paint), '');
  for (const line of moveLines(plan)) lines.push(`Moves: ${line}`);
  for (const { node, pools } of conflicts) {
    lines.push(
      paint(
        'bad',
        `Conflict: ${node} is selected by ${pools.join(' and ')} with the same priority, and is left as it is`,
      ),
    );
  }
  for (const finding of findings)
    lines.push(paint(finding.severity === 'error' ? 'bad' : 'busy', formatFinding(finding)));
  if (!knowsNodes) {
    if (lines.at(-1) !== '') lines.push('');
    lines.push(paint('quiet', 'No nodes were given: --inventory or --kubeconfig adds what it does to them.'));
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function poolLines(pool: PoolPlan, paint: Paint): readonly string[] {
  const { fields, spec, nodes, cost, change } = pool;
  const table = renderTable(
    fields.map((field) => {
      const [before, after] = sidesOf(field);
      return [`  ${field.path}`, before, '→', after];
    }),
  );
  const rollout = rolloutLine(pool);
  return [
    isAdopted(pool)
      ? paint('strong', adoptedLine(pool))
      : paint(change === 'removed' || change === 'invalid' ? 'bad' : 'strong', `Pool ${headOf(pool)}`),
    ...table,
    ...spec.map((line) => `  ${line}`),
    ...(cost === undefined ? [] : [paint('quiet', `  cost: ${COST_WORDS[cost]}`)]),
    ...risksOf(pool).map(({ paths, risk }) => paint('busy', `  ! ${paths.join(', ')}: ${risk}`)),
    ...(rollout === undefined ? [] : [`  ${rollout}`]),
    ...orderLines(pool).map((line) => paint('quiet', `  ${line}`)),
    ...capacityLines(nodes).map((line) => `  ${line}`),
    ...warningLines(nodes).map((line) => paint('bad', `  ! ${line}`)),
  ];
}
