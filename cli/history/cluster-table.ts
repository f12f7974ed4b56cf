import type { Follows } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { settledForMs } from '#reconciler/policy/following/follows.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { formatDuration } from '#shared/runtime/duration.ts';
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
 * Commits × clusters, with a heading: what each cluster says and for how long, or when its turn comes, about. Empty where it has nothing
 * to say.
 *
 * @param entries the newest commit first
 */
export function clusterTable(
  entries: readonly HistoryEntry[],
  columns: readonly ClusterColumn[],
  now: Millis,
): readonly (readonly string[])[] {
  const byCommit = Map.groupBy(entries, ({ commit }) => commit);
  const taken = new Set<string>();
  const rows = [...byCommit].map(([commit, all]) => {
    const cells = columns.map(({ cluster, since, follows }) => {
      const outcome = all.find((entry) => entry.cluster === cluster)?.note.outcome;
      if (outcome !== undefined && outcome !== 'refused') taken.add(cluster);
      if (outcome !== undefined) return [outcome, agoOf(since.get(commit), now)].join(' ').trimEnd();
      // What it passed by is no longer due.
      return follows === null || taken.has(cluster) ? '' : dueOf(commit, all, columns, follows, now);
    });
    return [commit.slice(0, 12), ...cells, all[0]?.subject ?? ''];
  });
  return [['COMMIT', ...columns.map(({ cluster }) => cluster.toUpperCase()), 'SUBJECT'], ...rows];
}

function dueOf(
  commit: string,
  entries: readonly HistoryEntry[],
  columns: readonly ClusterColumn[],
  follows: Follows,
  now: Millis,
): string {
  const times = follows.clusters.map((name) => {
    const isSettled = entries.some(({ cluster, note }) => cluster === name && note.outcome === 'settled');
    return isSettled ? fromTimestamp(columns.find(({ cluster }) => cluster === name)?.since.get(commit)) : undefined;
  });
  if (times.includes(undefined)) return 'waits';
  const left = Math.max(...times.map(Number)) + settledForMs(follows) - now;
  return left > 0 ? `in ${span(left)}` : 'due';
}

const agoOf = (since: string | undefined, now: Millis): string => {
  const at = fromTimestamp(since);
  return at === undefined ? '' : span(Math.max(0, now - at));
};

const UNITS: readonly Millis[] = [3_600_000, 60_000];

/** In whole hours, or in minutes or seconds where it is less. */
function span(ms: Millis): string {
  const unit = UNITS.find((each) => ms >= each) ?? 1_000;
  return formatDuration(Math.floor(ms / unit) * unit);
}

/** For a comment on a pull request. */
export function asMarkdown([heading = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  const rule = `|${' --- |'.repeat(heading.length)}`;
  return `${[line(heading), rule, ...rows.map(line)].join('\n')}\n`;
}
