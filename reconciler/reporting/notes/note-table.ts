import type { NotedPool } from './commit-note.ts';

const HEADER = ['POOL', 'PHASE', 'UPDATED', 'FAILED', 'CONFIG'];

/** The table of a note: a header and a line for each pool, in aligned columns; no line at all where there is no pool. */
export function noteTable(pools: readonly NotedPool[]): readonly string[] {
  return pools.length === 0 ? [] : columns([HEADER, ...pools.map(rowOf)]);
}

const rowOf = (pool: NotedPool): readonly string[] => [
  pool.name,
  pool.phase,
  pool.counts === null ? '-' : `${pool.counts.updated}/${pool.counts.nodes}`,
  pool.counts === null ? '-' : String(pool.counts.failed),
  configOf(pool),
];

/** No node runs the template of a pool with computed values. */
function configOf({ classes = [], config }: NotedPool): string {
  if (classes.length === 0) return config ?? 'local';
  return classes.length === 1 ? (classes[0]?.config ?? 'none') : 'by class of machines';
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
