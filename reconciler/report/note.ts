import type {
  KubeletPool,
  KubeletPoolStatus,
  PoolCounts,
  PoolFailure,
  PoolPhase,
} from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, formatFinding, hasErrors } from '#shared/contract/finding.ts';
import type { Desired, DesiredPool, PoolOrigin } from '../desired.ts';
import type { CommitOid } from '../git/source.ts';

/** Version of the JSON below the table; readers check it before they rely on a field. */
export const NOTE_SCHEMA = 'kubelet-gitops.dev/note/v1';

/**
 * How a commit fared in one cluster. settled: all its pools run what it says. progressing: under way, or waiting for nodes.
 * halted: failures stopped at least one pool. partly-refused: settled but for what was invalid. refused: never came into
 * force. superseded: another commit took its place before it was settled.
 */
export type CommitOutcome = 'settled' | 'progressing' | 'halted' | 'partly-refused' | 'refused' | 'superseded';

export interface NotedPool {
  readonly name: string;
  readonly origin: PoolOrigin;
  readonly config: string | null;
  readonly phase: PoolPhase;
  /** Why windows do not count for the pool; null where they do. */
  readonly emergency: string | null;
  readonly counts: PoolCounts | null;
  readonly failures: readonly PoolFailure[];
  readonly findings: readonly string[];
}

/** Everything that a note says. Holds no time: equal states give equal notes, and an equal note is not written again. */
export interface CommitNote {
  readonly cluster: string;
  readonly commit: CommitOid;
  readonly outcome: CommitOutcome;
  /** For people: why, where the outcome alone does not tell. */
  readonly message: string;
  readonly pools: readonly NotedPool[];
  /** What is wrong with the repository beyond its pools. */
  readonly findings: readonly string[];
}

const MOST_FINDINGS = 10;
const MOST_FAILURES = 5;
const LONGEST_MESSAGE = 400;

/** The note of the commit in force. */
export function noteInForce(
  cluster: string,
  commit: CommitOid,
  desired: Desired,
  statuses: ReadonlyMap<string, KubeletPoolStatus>,
): CommitNote {
  const pools = [...desired.pools.values()].map((pool) => notedPool(pool, statuses.get(pool.name)));
  const findings = desired.findings.slice(0, MOST_FINDINGS).map(formatFinding);
  const refused = pools.filter((pool) => pool.findings.length > 0).map((pool) => pool.name);
  const outcome = outcomeOf(pools, hasErrors(desired.findings) || [...desired.pools.values()].some(wasRefused));
  const message = outcome === 'partly-refused' && refused.length > 0 ? `kept as they were: ${refused.join(', ')}` : '';
  return { cluster, commit, outcome, message, pools, findings };
}

/**
 * What the cluster itself tells of a commit that another process had in force: without findings, which are nowhere but
 * in the commit.
 */
export function noteOfPredecessor(cluster: string, commit: CommitOid, present: readonly KubeletPool[]): CommitNote {
  const pools = present
    .filter(({ status }) => status?.commit === commit)
    .map(({ metadata, spec, status = {} }): NotedPool => {
      const { configName: config = null, phase = 'Progressing', counts = null, failures = [] } = status;
      const shown = failures.slice(0, MOST_FAILURES).map(shorten);
      const emergency = spec?.rollout.emergency ?? null;
      const { name } = metadata;
      return { name, origin: 'rendered', config, phase, emergency, counts, failures: shown, findings: [] };
    });
  return { cluster, commit, outcome: outcomeOf(pools, false), message: '', pools, findings: [] };
}

/** Nothing more will happen to a commit that fared like this, as long as it is in force and no node joins or leaves. */
export const isFinal = ({ outcome }: CommitNote): boolean => outcome === 'settled' || outcome === 'partly-refused';

/** The note of a commit that was not let into force. */
export function noteRefused(
  cluster: string,
  commit: CommitOid,
  message: string,
  findings: readonly Finding[] = [],
): CommitNote {
  return {
    cluster,
    commit,
    outcome: 'refused',
    message,
    pools: [],
    findings: findings.slice(0, MOST_FINDINGS).map(formatFinding),
  };
}

/** The last note of a commit that another one displaced before it was settled. */
export function noteSuperseded(last: CommitNote, by: CommitOid): CommitNote {
  return { ...last, outcome: 'superseded', message: `superseded by ${by.slice(0, 12)} while ${last.outcome}` };
}

function outcomeOf(pools: readonly NotedPool[], refusals: boolean): CommitOutcome {
  if (pools.some((pool) => pool.phase === 'Halted')) return 'halted';
  if (pools.some((pool) => pool.phase === 'Progressing' || pool.phase === 'Waiting')) return 'progressing';
  return refusals ? 'partly-refused' : 'settled';
}

const wasRefused = (pool: DesiredPool): boolean => pool.origin === 'kept' && hasErrors(pool.findings);

function notedPool(pool: DesiredPool, status: KubeletPoolStatus | undefined): NotedPool {
  return {
    name: pool.name,
    origin: pool.origin,
    config: pool.config?.name ?? null,
    phase: status?.phase ?? 'Progressing',
    emergency: pool.spec.rollout.emergency ?? null,
    counts: status?.counts ?? null,
    failures: (status?.failures ?? []).slice(0, MOST_FAILURES).map(shorten),
    findings: pool.findings.slice(0, MOST_FINDINGS).map(formatFinding),
  };
}

const shorten = (failure: PoolFailure): PoolFailure => ({
  ...failure,
  message: failure.message.slice(0, LONGEST_MESSAGE),
});

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
  const emergencies = note.pools.flatMap(({ name, emergency }) =>
    emergency === null ? [] : [`${name}: emergency, windows do not count: ${emergency}`],
  );
  const failures = note.pools.flatMap((pool) =>
    pool.failures.map((failure) => `${failure.node}: ${failure.reason}: ${failure.message}`),
  );
  const findings = [...note.findings, ...note.pools.flatMap((pool) => pool.findings)];
  const body = [heading, ...table, ...emergencies, ...failures, ...findings];
  return `${body.join('\n')}\n\n${JSON.stringify({ schema: NOTE_SCHEMA, ...note })}\n`;
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
