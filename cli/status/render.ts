import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, KubeletPoolStatus, PoolPhase } from '#shared/contract/api/kubelet-pool.ts';
import { runbookOf } from '#reconciler/policy/runbook.ts';
import { followingStanding } from '#reconciler/policy/following/describe-following.ts';
import { readFollowing } from '#reconciler/policy/following/record.ts';
import { recordedPolicy } from '#reconciler/policy/cluster-policy.ts';
import { approvedBy, awaitedLines, waveWords } from '#reconciler/policy/pool-status/approval-lines.ts';
import { formatFailedWrite } from '#reconciler/policy/pool-status/failed-write-line.ts';
import { haltLines } from '#reconciler/policy/pool-status/halt-lines.ts';
import { recordedPicture } from '#reconciler/reporting/recorded-picture.ts';
import { invalidity, suspensionLine } from '#reconciler/reporting/attention.ts';
import { readFindings } from '#reconciler/reporting/notes/recorded-findings.ts';
import { parseUnreadableNotes } from '#reconciler/reporting/notes/recorded-unreadable-notes.ts';
import { sayWorking } from '#reconciler/reporting/notes/writer-state.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { isWarningLine } from '#shared/contract/finding.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { clustersAsText } from '../clusters-text.ts';
import { joinLines } from '../one-line.ts';
import type { Paint, Tone } from '../paint.ts';
import { age, renderNodes, strong } from './render-nodes.ts';
import { classStatusLines } from './class-status-lines.ts';
import { type Cell, renderFitting } from '../text-table.ts';

export interface StatusView {
  readonly source: SourceState;
  readonly pools: readonly KubeletPool[];
  readonly nodes: readonly KubeletNode[];
  /** Every class of machines is shown, and not only the most urgent. */
  readonly isWide?: boolean;
  /** How many pools and nodes are left out, because nothing is wrong with them. */
  readonly leftOut?: { readonly pools: number; readonly nodes: number };
}

/**
 * What `kubelet-gitops status` prints: the commit, the pools, the nodes; what is wrong stands under what it is about.
 *
 * @param columns what a line has room for; what else says the least is left out where that is not enough
 */
export function renderStatus(
  { source, pools, nodes, leftOut, isWide = false }: StatusView,
  paint: Paint,
  now: Millis,
  columns: number = Infinity,
): string {
  const sections = [
    renderSource(source, paint, now),
    ...renderClusters(source, now, columns),
    [...renderPools(pools, paint, now, columns, leftOut, isWide), ...others(leftOut?.pools, 'pool', 'settled', paint)],
    [...renderNodes(nodes, paint, now, columns), ...nodesNotShown(pools, nodes, leftOut, paint)],
  ];
  return `${sections.map(joinLines).join('\n\n')}\n`;
}

const others = (count = 0, what: string, how: string, paint: Paint): readonly string[] =>
  count === 0 ? [] : [paint('quiet', `${count} ${count === 1 ? `${what} is` : `${what}s are`} ${how}`)];

function renderSource(source: SourceState, paint: Paint, now: Millis): readonly string[] {
  const commit = source.commit === '' ? paint('busy', 'none in force yet') : source.commit.slice(0, 12);
  const about = source.commit === '' ? '' : ` ${source.subject} (${source.author}, ${age(source.takenUpAt, now)} ago)`;
  const lines = [
    `${paint('strong', 'repository')}  ${source.url === '' ? '-' : `${source.url} ${source.branch}`}`,
    `${paint('strong', 'commit')}      ${commit}${about}`,
  ];
  if (source.url === '') {
    lines.push(
      paint(
        'busy',
        'no reconciler has written to this namespace: doctor says what is missing, --namespace names another one',
      ),
    );
  }
  if (source.refusedCommit !== '') {
    lines.push(`${paint('bad', 'refused')}     ${source.refusedCommit.slice(0, 12)}: ${source.refusedBecause}`);
    lines.push(`${paint('bad', 'runbook')}     ${runbookOf('CommitRefused')}`);
  }
  if (source.failure !== '') {
    lines.push(`${paint('bad', 'git')}         fails since ${source.failingSince}: ${source.failure}`);
    lines.push(`${paint('bad', 'runbook')}     ${runbookOf('GitStale')}`);
  }
  const followed = readFollowing(source.following);
  if (followed) lines.push(`${paint('busy', 'follows')}     ${followingStanding(followed).message}`);
  if (recordedPolicy(source.policy, false).suspend) {
    lines.push(`${paint('busy', 'suspended')}   all pools: clusters/${source.cluster}.yaml says so`);
  }
  if (source.notes !== 'on') lines.push(`${paint('busy', 'notes')}       ${sayWorking(source.notes)}`);
  for (const note of parseUnreadableNotes(source.unreadableNotes)) {
    lines.push(`${paint('busy', 'note')}        not written on ${note}`);
  }
  for (const finding of readFindings(source.findings))
    lines.push(paint(isWarningLine(finding) ? 'busy' : 'bad', finding));
  return lines;
}

/** Where a cluster follows others: what each says of the newest commits. */
function renderClusters(source: SourceState, now: Millis, columns: number): readonly (readonly string[])[] {
  const picture = recordedPicture(source);
  if (picture === null || picture.rows.length === 0) return [];
  return [clustersAsText(picture, now, columns)];
}

const PHASE_TONES: Readonly<Record<PoolPhase, Tone>> = {
  Settled: 'good',
  Progressing: 'busy',
  Waiting: 'busy',
  Halted: 'bad',
  Empty: 'quiet',
};

/** A newer reconciler may know more phases. */
const toneOf = (phase: string): Tone => (Object.hasOwn(PHASE_TONES, phase) ? PHASE_TONES[phase as PoolPhase] : 'busy');

function renderPools(
  pools: readonly KubeletPool[],
  paint: Paint,
  now: Millis,
  columns: number,
  leftOut: StatusView['leftOut'],
  isWide: boolean,
): readonly string[] {
  if (pools.length === 0) return (leftOut?.pools ?? 0) > 0 ? [] : [paint('quiet', 'no pools')];
  const heading = ['POOL', 'PHASE', 'UPDATED', 'UPDATING', 'PENDING', 'FAILED', 'NO AGENT', 'CONFIG'];
  const rows = pools.map((pool) => poolRow(pool, paint));
  const table = renderFitting([strong(heading, paint), ...rows], columns, ['PENDING', 'UPDATING']);
  return table.flatMap((line, index) => {
    const pool = pools[index - 1];
    if (pool === undefined) return [line];
    const suspended = suspensionLine(pool, now);
    // A pool that waits says it itself.
    const held =
      suspended === null || pool.status?.phase === 'Waiting' ? [] : [paint('busy', `  suspended: ${suspended}`)];
    const waves = wavesLine(pool).map((text) => paint('quiet', `  ${text}`));
    return [
      line,
      ...held,
      ...waves,
      ...classStatusLines(pool, paint, isWide),
      ...poolTroubles(pool).map((text) => paint('bad', `  ${text}`)),
    ];
  });
}

function poolRow({ metadata, status = {} }: KubeletPool, paint: Paint): readonly Cell[] {
  const { counts } = status;
  const phase = status.phase ?? 'Waiting';
  const count = (value: number | undefined, tone: Tone): Cell => {
    const text = String(value ?? 0);
    return { text, shown: value === undefined || value === 0 ? paint('quiet', text) : paint(tone, text) };
  };
  return [
    metadata.name,
    { text: phase, shown: paint(toneOf(phase), phase) },
    counts === undefined ? '-' : `${counts.updated}/${counts.nodes}`,
    count(counts?.updating, 'busy'),
    count(counts?.pending, 'busy'),
    count(counts?.failed, 'bad'),
    count(counts?.noAgent, 'bad'),
    configOf(status),
  ];
}

/** No node runs the template of a pool with computed values. */
function configOf({ classes = [], configName = 'local' }: KubeletPoolStatus): string {
  if (classes.length === 0) return configName;
  return classes.length === 1 ? (classes[0]?.configName ?? 'none') : `${classes.length} classes`;
}

/** How far a rollout in waves has come, while it is under way. */
function wavesLine({ status = {} }: KubeletPool): readonly string[] {
  const { rollout } = status;
  if (status.phase === 'Empty' || rollout === undefined || rollout.finishedAt !== undefined) return [];
  if (rollout.waves.length < 2) return [];
  const approved = rollout.waves.flatMap((wave) => {
    const said = approvedBy(wave);
    return said === undefined ? [] : [`${wave.name}: ${said}`];
  });
  return [
    `waves: ${rollout.waves.map((wave) => `${wave.name} (up to ${wave.nodes}) ${waveWords(wave)}`).join(', ')}`,
    ...approved,
  ];
}

function poolTroubles({ metadata, status = {} }: KubeletPool): readonly string[] {
  const invalid = invalidity({ metadata, status });
  const kept =
    invalid === undefined
      ? []
      : ['kept as it was, because the commit says:', ...indent(invalid), `runbook: ${runbookOf('PoolConfigInvalid')}`];
  // A settled pool may have nodes that wait for leave to restart with what they run.
  const waits = status.phase === 'Waiting' || (status.phase === 'Settled' && status.holds !== undefined);
  const waiting = status.phase === 'Halted' || waits ? [status.message ?? ''] : [];
  // The message names it already, where nothing moves.
  const asked = awaitedLines(metadata.name, status);
  const approvals =
    asked.length === 0
      ? []
      : [
          ...asked.filter((line) => !waiting.some((each) => each.includes(line))),
          `runbook: ${runbookOf('WaitsForApproval')}`,
        ];
  const { unwritten = [] } = status;
  const failing = unwritten.map((write) => `${write.node ?? metadata.name}: ${formatFailedWrite(write)}`);
  const read = failing.length === 0 ? [] : [`runbook: ${runbookOf('WritesRefused')}`];
  return [...kept, ...waiting, ...approvals, ...haltLines(status), ...failing, ...read];
}

const indent = (text: string): readonly string[] => text.split('\n').map((line) => `  ${line}`);

/** A node that its pool selects has no pool of its own before its first assignment. */
function nodesNotShown(
  pools: readonly KubeletPool[],
  nodes: readonly KubeletNode[],
  leftOut: StatusView['leftOut'],
  paint: Paint,
): readonly string[] {
  if (leftOut !== undefined) return others(leftOut.nodes, 'node', 'as assigned', paint);
  if (nodes.length > 0) return [];
  const selected = pools.reduce((sum, { status }) => sum + (status?.counts?.nodes ?? 0), 0);
  const unassigned = `${selected} ${selected === 1 ? 'node is' : 'nodes are'} selected, with nothing assigned yet; --why says why`;
  return [paint('quiet', selected === 0 ? 'no nodes' : unassigned)];
}
