import type { Follows } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { ClusterCell, ClusterPicture } from '#reconciler/policy/following/cluster-picture.ts';
import { settledForMs } from '#reconciler/policy/following/follows.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { escapeMarkdown } from '../markdown-text.ts';
import type { HistoryEntry } from './read-history.ts';

/** What a cluster says of commits, and whom it follows. */
export interface ClusterColumn {
  readonly cluster: string;
  /** Since when its notes say what they say, by commit; RFC 3339. */
  readonly since: ReadonlyMap<string, string>;
  readonly follows: Follows | null;
}

/**
 * What notes say, with the times of their pushes; where a commit is due in a cluster that follows others, that is so about then.
 *
 * @param entries the newest commit first
 */
export function notedPicture(entries: readonly HistoryEntry[], columns: readonly ClusterColumn[]): ClusterPicture {
  const byCommit = Map.groupBy(entries, ({ commit }) => commit);
  const taken = new Set<string>();
  const rows = [...byCommit].map(([oid, all]) => {
    const cells = columns.flatMap(({ cluster, since, follows }): (readonly [string, ClusterCell])[] => {
      const note = all.find((entry) => entry.cluster === cluster)?.note.outcome;
      if (note !== undefined && note !== 'refused') taken.add(cluster);
      if (note !== undefined) return [[cluster, { is: 'said', note, since: fromTimestamp(since.get(oid)) }]];
      // An older commit that never came into force is not due any more.
      if (follows === null || taken.has(cluster)) return [];
      return [[cluster, { is: 'waiting', dueAt: dueOf(oid, all, columns, follows) }]];
    });
    return { oid, subject: all[0]?.subject ?? '', cells: new Map(cells) };
  });
  return { clusters: columns.map(({ cluster }) => cluster), rows };
}

function dueOf(
  commit: string,
  entries: readonly HistoryEntry[],
  columns: readonly ClusterColumn[],
  follows: Follows,
): Millis | undefined {
  const times = follows.clusters.map((name) => {
    const isSettled = entries.some(({ cluster, note }) => cluster === name && note.outcome === 'settled');
    return isSettled ? fromTimestamp(columns.find(({ cluster }) => cluster === name)?.since.get(commit)) : undefined;
  });
  return times.includes(undefined) ? undefined : Math.max(...times.map(Number)) + settledForMs(follows);
}

/** For a comment on a pull request. */
export function asMarkdown([heading = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  const rule = `|${' --- |'.repeat(heading.length)}`;
  return `${[line(heading), rule, ...rows.map(line)].join('\n')}\n`;
}
