import { stripVTControlCharacters } from 'node:util';
import type { Paint, Tone } from '../paint.ts';
import { type Cell, renderTable } from '../text-table.ts';
import type { HistoryEntry } from './read-history.ts';

const TONES: Readonly<Record<string, Tone>> = {
  settled: 'good',
  progressing: 'busy',
  superseded: 'quiet',
};

export const NOTHING_NOTED = 'none of the last commits has a note';

/**
 * One line a commit and cluster, and below it what there is to say.
 *
 * @param columns what a line has room for; author and pools stand below the line where that is not enough
 * @param isMore  whether it goes below an earlier table, without a heading of its own
 */
export function historyAsText(
  entries: readonly HistoryEntry[],
  paint: Paint,
  columns: number = Infinity,
  isMore = false,
): string {
  if (entries.length === 0) return `${NOTHING_NOTED}\n`;
  const whole = tableOf(entries, paint, true);
  const fits = whole.every((line) => stripVTControlCharacters(line).length <= columns);
  const [heading = '', ...lines] = fits ? whole : tableOf(entries, paint, false);
  const body = entries.flatMap(({ author, note }, index) => [
    lines[index] ?? '',
    ...(fits ? [] : [`  by ${author}${progressOf(note) === '' ? '' : `: ${progressOf(note)}`}`]),
    ...(note.message === '' ? [] : [`  ${note.message}`]),
    ...(note.heldClasses ?? []).map((held) => `  no config for ${held}`),
    ...(note.emergencies ?? []).map((emergency) => `  emergency, windows did not count: ${emergency}`),
  ]);
  return `${[...(isMore ? [] : [paint('strong', heading)]), ...body].join('\n')}\n`;
}

function tableOf(entries: readonly HistoryEntry[], paint: Paint, isWide: boolean): readonly string[] {
  const rows = entries.map(({ commit, at, cluster, note, subject, author }): readonly Cell[] => [
    commit.slice(0, 12),
    at.slice(0, 16).replace('T', ' '),
    cluster,
    { text: note.outcome, shown: paint(TONES[note.outcome] ?? 'bad', note.outcome) },
    ...(isWide ? [progressOf(note), `${subject} (${author})`] : [subject]),
  ]);
  const heading = ['COMMIT', 'AUTHORED', 'CLUSTER', 'OUTCOME', ...(isWide ? ['UPDATED'] : []), 'SUBJECT'];
  return renderTable([heading, ...rows]);
}

const progressOf = ({ pools = [] }: HistoryEntry['note']): string => pools.join(', ');
