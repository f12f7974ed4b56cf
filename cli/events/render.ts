import type { Paint } from '../paint.ts';
import { type Cell, renderFolding } from '../text-table.ts';
import type { PastEvent } from './past-events.ts';

/**
 * One line for each, the newest last, where the eye is when the command ends.
 *
 * @param isMore  whether they follow others, and so have no heading
 * @param since   as of when they were asked for, in the words of whoever asked
 * @param columns what a line has room for; the notes stand below the lines where that is not enough
 */
export function eventsAsText(
  happened: readonly PastEvent[],
  paint: Paint,
  columns: number = Infinity,
  isMore = false,
  since?: string,
): string {
  if (happened.length === 0)
    return isMore
      ? ''
      : `no events${since === undefined ? '' : ` since ${since}`}: API servers keep them for an hour as a rule\n`;
  const rows = happened.map(({ at, type, reason, kind, name, pool, note, count }): readonly Cell[] => {
    const often = count > 1 ? `${reason} x${count}` : reason;
    return [
      at.replace('T', ' ').replace('Z', ''),
      { text: often, shown: paint(type === 'Warning' ? 'bad' : 'good', often) },
      kind === 'Node' ? name : '-',
      pool === '' ? '-' : pool,
      note,
    ];
  });
  const table = [['TIME (UTC)', 'WHAT', 'NODE', 'POOL', 'NOTE'], ...rows];
  const [[heading = ''] = [], ...lines] = renderFolding(table, columns);
  return `${[...(isMore ? [] : [paint('strong', heading)]), ...lines.flat()].join('\n')}\n`;
}
