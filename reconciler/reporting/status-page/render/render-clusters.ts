import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { type ClusterCell, cellWords, type PictureRow } from '../../../policy/following/cluster-picture.ts';
import { type Content, type Html, html } from '../html.ts';
import type { WorkingModel } from '../model.ts';
import { type Column, table } from './html-table.ts';
import { badge, notedBadge } from './state-badges.ts';

/** What followed clusters say of the newest commits, and when these come into force here; nothing for a cluster that follows none. */
export function renderClusters({ clusters, at }: Pick<WorkingModel, 'clusters' | 'at'>): Html | null {
  if (clusters === null) return null;
  const { says, picture } = clusters;
  const columns: readonly Column<PictureRow>[] = [
    { heading: 'Commit', cell: ({ oid }) => html`<code>${oid.slice(0, 12)}</code>` },
    ...picture.clusters.map((cluster) => ({
      heading: cluster,
      cell: ({ cells }: PictureRow) => renderCell(cells.get(cluster), at),
    })),
    { heading: 'Subject', cell: ({ subject }) => subject },
  ];
  return html`<section aria-labelledby="clusters">
    <h2 id="clusters">Clusters</h2>
    <p>${says}</p>
    ${picture.rows.length === 0 ? null : table('What each cluster says of the newest commits, and for how long', columns, picture.rows)}
  </section>`;
}

function renderCell(cell: ClusterCell | undefined, now: Millis): Content {
  if (cell === undefined) return '–';
  const { word, age } = cellWords(cell, now);
  if (cell.is === 'waiting') {
    const waits = badge({ tone: 'quiet', sign: '○', word: word === 'in' ? 'waits' : word });
    return age === '' ? waits : html`${waits} ${word} ${moment(cell.dueAt, age)}`;
  }
  const said = cell.is === 'said' ? notedBadge(cell.note) : badge({ tone: 'busy', sign: '?', word });
  return age === '' ? said : html`${said} ${moment(cell.since, age)}`;
}

const moment = (at: Millis | undefined, age: string): Content =>
  at === undefined ? age : html`<time datetime="${toTimestamp(at)}">${age}</time>`;
