import type { Paint, Tone } from '../paint.ts';
import { type Cell, renderTable } from '../table.ts';
import type { HistoryEntry } from './read-history.ts';

const TONES: Readonly<Record<string, Tone>> = {
  settled: 'good',
  progressing: 'busy',
  superseded: 'quiet',
};

/** One line a commit and cluster, and below it what there is to say. */
export function historyAsText(entries: readonly HistoryEntry[], paint: Paint): string {
  if (entries.length === 0) return 'none of the last commits has a note\n';
  const rows = entries.map(({ commit, at, cluster, note, subject, author }): readonly Cell[] => [
    commit.slice(0, 12),
    at.slice(0, 16).replace('T', ' '),
    cluster,
    { text: note.outcome, shown: paint(TONES[note.outcome] ?? 'bad', note.outcome) },
    (note.pools ?? []).join(', '),
    `${subject} (${author})`,
  ]);
  const [heading = '', ...lines] = renderTable([
    ['COMMIT', 'AUTHORED', 'CLUSTER', 'OUTCOME', 'UPDATED', 'SUBJECT'],
    ...rows,
  ]);
  const body = entries.flatMap(({ note }, index) => [
    lines[index] ?? '',
    ...(note.message === '' ? [] : [`  ${note.message}`]),
    ...(note.emergencies ?? []).map((emergency) => `  emergency, windows did not count: ${emergency}`),
  ]);
  return `${[paint('strong', heading), ...body].join('\n')}\n`;
}
