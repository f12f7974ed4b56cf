import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_CLUSTER } from '../repo/read-cluster.ts';
import type { CommitNote, NotedPool } from './note.ts';

/** Version of the JSON below the table; readers check it before they rely on a field. `schemas/note.v1.json` has it in full. */
export const NOTE_SCHEMA = 'kubelet-gitops.dev/note/v1';

/** The text of a note: a table for people, an empty line, and one line of JSON for programs. */
export function renderNote(note: CommitNote): string {
  const heading = `${note.cluster}: ${note.outcome}${note.message === '' ? '' : ` (${note.message})`}`;
  const rows = note.pools.map((pool) => [
    pool.name,
    pool.phase,
    pool.counts === null ? '-' : `${pool.counts.updated}/${pool.counts.nodes}`,
    pool.counts === null ? '-' : String(pool.counts.failed),
    pool.config ?? 'local',
  ]);
  const table = rows.length === 0 ? [] : columns([['POOL', 'PHASE', 'UPDATED', 'FAILED', 'CONFIG'], ...rows]);
  const failures = note.pools.flatMap((pool) =>
    pool.failures.map((failure) => `${failure.node}: ${failure.reason}: ${failure.message}`),
  );
  const findings = [...note.findings, ...note.pools.flatMap((pool) => pool.findings)];
  const body = [heading, ...table, ...limitLines(note), ...note.pools.flatMap(poolLines), ...failures, ...findings];
  return `${body.join('\n')}\n\n${JSON.stringify({ schema: NOTE_SCHEMA, ...note })}\n`;
}

/** Only what allows more than usual: that is what an auditor looks for. */
function limitLines({ limits }: CommitNote): readonly string[] {
  if (limits === null) return [];
  const wide = (['maxChange', 'maxUnassign'] as const).filter((limit) =>
    isWider(limits[limit], DEFAULT_CLUSTER[limit]),
  );
  return wide.map((limit) => `the commit sets ${limit} to ${limits[limit]} (usual: ${DEFAULT_CLUSTER[limit]})`);
}

/** A count may be more than a share of nodes that nobody knows: it counts as wider, unless it is nothing. */
const isWider = (amount: Amount, usual: Amount): boolean =>
  typeof amount === 'number'
    ? amount > 0 && usual !== '100%'
    : Number.parseFloat(amount) > Number.parseFloat(String(usual));

function poolLines({ name, phase, emergency, suspended, waves, halt, released }: NotedPool): readonly string[] {
  // Where nothing moves, the table says it all.
  const under = (phase === 'Progressing' || phase === 'Waiting') && waves.length > 1;
  return [
    ...(under ? [`${name}: ${waves.map((wave) => `${wave.name} ${wave.state}`).join(', ')}`] : []),
    ...(emergency === null ? [] : [`${name}: emergency, windows do not count: ${emergency}`]),
    ...(suspended ? [`${name}: suspended`] : []),
    ...(halt === null ? [] : [`${name}: ${halt.action === 'revert' ? 'reverting' : 'halted'} since ${halt.at}`]),
    ...(released === null ? [] : [`${name}: released by a person; ${released.nodes} failed before that`]),
  ];
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
