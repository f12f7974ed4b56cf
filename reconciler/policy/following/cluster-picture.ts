import type { Millis } from '#shared/runtime/clock.ts';
import { formatDuration } from '#shared/runtime/duration.ts';
import type { CommitOid } from '../commit-snapshot.ts';

/** How a commit stands in a cluster: what the cluster says of it, that it has yet to come into force there, or that nothing is heard. */
export type ClusterCell =
  | { readonly is: 'said'; readonly note: string; readonly since: Millis | undefined }
  /** `dueAt` is undefined where others have to settle it first. */
  | { readonly is: 'waiting'; readonly dueAt: Millis | undefined }
  | { readonly is: 'silent'; readonly since: Millis };

export interface PictureRow {
  readonly oid: CommitOid;
  readonly subject: string;
  /** By cluster; none where there is nothing to say. */
  readonly cells: ReadonlyMap<string, ClusterCell>;
}

/** Commits × clusters, the newest commit first. */
export interface ClusterPicture {
  readonly clusters: readonly string[];
  readonly rows: readonly PictureRow[];
}

/** The picture as a table with a heading. */
export function pictureTable({ clusters, rows }: ClusterPicture, now: Millis): readonly (readonly string[])[] {
  return [
    ['COMMIT', ...clusters.map((cluster) => cluster.toUpperCase()), 'SUBJECT'],
    ...rows.map(({ oid, subject, cells }) => [
      oid.slice(0, 12),
      ...clusters.map((cluster) => cellText(cells.get(cluster), now)),
      subject,
    ]),
  ];
}

const cellText = (cell: ClusterCell | undefined, now: Millis): string => {
  const { word, age } = cell === undefined ? { word: '', age: '' } : cellWords(cell, now);
  return `${word} ${age}`.trim();
};

/** `settled` and `3h`, `in` and `21h`; no age where none is known. */
export function cellWords(cell: ClusterCell, now: Millis): { readonly word: string; readonly age: string } {
  if (cell.is === 'waiting') {
    if (cell.dueAt === undefined) return { word: 'waits', age: '' };
    return cell.dueAt > now ? { word: 'in', age: spanText(cell.dueAt - now) } : { word: 'due', age: '' };
  }
  const age = cell.since === undefined ? '' : spanText(now - cell.since);
  return { word: cell.is === 'said' ? cell.note : 'silent', age };
}

const UNITS: readonly Millis[] = [3_600_000, 60_000];

/** In whole hours, or in minutes or seconds where it is less. */
function spanText(span: Millis): string {
  const ms = Math.max(0, span);
  const unit = UNITS.find((each) => ms >= each) ?? 1_000;
  return formatDuration(Math.floor(ms / unit) * unit);
}
