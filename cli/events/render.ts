import type { Paint } from '../paint.ts';
import { type Cell, renderTable } from '../table.ts';
import type { Happened } from './happened.ts';

/** One line for each, the newest last, where the eye is when the command ends. */
export function eventsAsText(happened: readonly Happened[], paint: Paint): string {
  if (happened.length === 0) return 'nothing happened that is still known\n';
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
  const [heading = '', ...lines] = renderTable([['TIME (UTC)', 'WHAT', 'NODE', 'POOL', 'NOTE'], ...rows]);
  return `${[paint('strong', heading), ...lines].join('\n')}\n`;
}
