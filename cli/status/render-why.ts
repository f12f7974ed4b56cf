import type { NodeReason } from '#reconciler/rollout/explain.ts';
import type { Paint } from '../paint.ts';
import { renderTable } from '../table.ts';

/** A table with a line for every node: where it stands, and why it is changed now or not. */
export function renderWhy(reasons: readonly NodeReason[], paint: Paint): string {
  const heading = ['NODE', 'POOL', 'STANDING', 'NOW', 'BECAUSE'];
  const rows = reasons.map(({ node, pool, standing, now, because }) => [
    node,
    pool,
    standing,
    { text: now, shown: paint(now === 'nothing to do' ? 'quiet' : now === 'change now' ? 'good' : 'busy', now) },
    because,
  ]);
  const [first = '', ...lines] = renderTable([heading, ...rows]);
  return `${[paint('strong', first), ...lines].join('\n')}\n`;
}
