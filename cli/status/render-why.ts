import type { NodeReason } from '#reconciler/policy/pool-status/explain-nodes.ts';
import type { Paint } from '../paint.ts';
import { renderFolding } from '../text-table.ts';

/**
 * A table with a line for every node: its standing, and why it is changed now or not.
 *
 * @param columns what a line has room for; the reasons stand below the lines where that is not enough
 */
export function renderWhy(reasons: readonly NodeReason[], paint: Paint, columns: number = Infinity): string {
  const heading = ['NODE', 'POOL', 'STANDING', 'NOW', 'BECAUSE'];
  const rows = reasons.map(({ node, pool, standing, now, because }) => [
    node,
    pool,
    standing,
    { text: now, shown: paint(now === 'nothing to do' ? 'quiet' : now === 'change now' ? 'good' : 'busy', now) },
    because,
  ]);
  const [[first = ''] = [], ...lines] = renderFolding([heading, ...rows], columns);
  return `${[paint('strong', first), ...lines.flat()].join('\n')}\n`;
}
