import { isAwaited } from '#shared/contract/api/approval.ts';
import type { Amount, ClassStatus } from '#shared/contract/api/kubelet-pool.ts';
import { MOST_NOTE_BYTES } from '../../git/notes/stored-note.ts';
import { DEFAULT_CLUSTER, DEFAULT_MAX_CHANGE } from '../../policy/config-repo/read-cluster.ts';
import type { NoteContent } from '../../git/notes/annotator.ts';
import { approvedBy, waveWords } from '../../policy/pool-status/approval-lines.ts';
import { approvalLine } from '../../policy/rollout/pause.ts';
import { haltLines } from '../../policy/pool-status/halt-lines.ts';
import { formatClass, isClassDone } from '../pool-status/class-summary.ts';
import type { CommitNote, NotedClass, NotedPool } from './commit-note.ts';
import { noteTable } from './note-table.ts';

/** Version of the JSON beside a note; readers check it before they rely on a field. `schemas/note.v1.json` has it in full. */
const NOTE_SCHEMA = 'kubelet-gitops.dev/note/v1';

/**
 * What is written of a commit: a text for people, and one line of JSON for programs. Where a repository has more pools than either
 * holds, those that need no attention are left out, and both say how many: the JSON is always whole.
 */
export function noteContent(note: CommitNote): Required<Omit<NoteContent, 'onlyFirst'>> {
  const short = fitNote(note, (shorter) => isShort(textOf(shorter)) && isShort(dataOf(shorter)));
  return { text: textOf(short), data: dataOf(short) };
}

const isShort = (text: string): boolean => Buffer.byteLength(text) <= MOST_NOTE_BYTES;

const dataOf = (note: CommitNote): string => `${JSON.stringify({ schema: NOTE_SCHEMA, ...note })}\n`;

/** The note with as many of its pools as fit, those first that need attention; it says how many are left out. */
export function fitNote(note: CommitNote, fits: (note: CommitNote) => boolean): CommitNote {
  if (fits(note)) return note;
  const byNeed = [...note.pools].sort((a, b) => need(a) - need(b));
  const withFirst = (count: number): CommitNote => {
    const kept = new Set(byNeed.slice(0, count));
    const omittedPools = byNeed.length - count + (note.omittedPools ?? 0);
    return { ...note, pools: note.pools.filter((pool) => kept.has(pool)), omittedPools };
  };
  let [few, tooMany] = [0, byNeed.length];
  while (tooMany - few > 1) {
    const half = Math.floor((few + tooMany) / 2);
    if (fits(withFirst(half))) few = half;
    else tooMany = half;
  }
  return withFirst(few);
}

/** What stopped or is wrong comes first, then what is under way. */
function need({ phase, findings, failures }: NotedPool): number {
  if (phase === 'Halted' || findings.length > 0 || failures.length > 0) return 0;
  return phase === 'Progressing' || phase === 'Waiting' ? 1 : 2;
}

function textOf(note: CommitNote): string {
  const { omittedPools = 0 } = note;
  const more = omittedPools === 0 ? [] : [`and ${omittedPools} more pools, for which there is no room here`];
  const remarks = [...more, ...remarksOn(note)];
  const heading = `${note.cluster}: ${note.outcome}${note.message === '' ? '' : ` (${note.message})`}`;
  if (remarks.length === 0 && isWell(note)) return `${note.cluster}: ${note.outcome} (${sizeOf(note)})\n`;
  return `${[heading, ...noteTable(note.pools), ...remarks].join('\n')}\n`;
}

/** What deserves a line of its own. */
function remarksOn(note: CommitNote): readonly string[] {
  const failures = note.pools.flatMap((pool) =>
    pool.failures.map((failure) => `${failure.node}: ${failure.reason}: ${failure.message}`),
  );
  const findings = [...note.findings, ...note.pools.flatMap((pool) => pool.findings)];
  return [...limitLines(note), ...note.pools.flatMap(poolLines), ...failures, ...findings];
}

/** Every node of every pool runs what the commit says: a table would only repeat it. */
const isWell = ({ outcome, message, pools }: CommitNote): boolean =>
  outcome === 'settled' &&
  message === '' &&
  pools.length > 0 &&
  pools.every(({ counts }) => counts !== null && counts.updated === counts.nodes && counts.failed === 0);

/** `2 pools, 8 nodes`. */
function sizeOf({ pools }: CommitNote): string {
  const nodes = pools.reduce((sum, { counts }) => sum + (counts?.nodes ?? 0), 0);
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  return `${counted(pools.length, 'pool')}, ${counted(nodes, 'node')}`;
}

/** Only what allows more than usual: that is what an auditor looks for. */
function limitLines({ limits }: CommitNote): readonly string[] {
  if (limits === null) return [];
  const wide = (['maxChange', 'maxUnassign'] as const).filter((limit) => isWider(limits[limit], USUAL[limit]));
  return wide.map((limit) => `the commit sets ${limit} to ${limits[limit]} (usual: ${USUAL[limit]})`);
}

const USUAL = { maxChange: DEFAULT_MAX_CHANGE, maxUnassign: DEFAULT_CLUSTER.maxUnassign } as const;

/** A count may be more than a share, because the number of nodes is unknown: it counts as wider, unless it is 0. */
const isWider = (amount: Amount, usual: Amount): boolean =>
  typeof amount === 'number'
    ? amount > 0 && usual !== '100%'
    : Number.parseFloat(amount) > Number.parseFloat(String(usual));

function poolLines({
  name,
  phase,
  emergency,
  suspended,
  waves,
  halt,
  released,
  config,
  classes = [],
}: NotedPool): readonly string[] {
  // Where nothing moves, the table says it all.
  const under = (phase === 'Progressing' || phase === 'Waiting') && waves.length > 1;
  return [
    ...(under ? [`${name}: ${waves.map((wave) => `${wave.name} ${waveWords(wave)}`).join(', ')}`] : []),
    ...approvalsIn({ name, config, halt, waves }),
    ...classes.map(statusOf).flatMap((each) => (isClassDone(each) ? [] : [`${name}: ${formatClass(each)}`])),
    ...(emergency === null ? [] : [`${name}: emergency, windows do not count: ${emergency}`]),
    ...(suspended ? [`${name}: suspended`] : []),
    ...(halt === null
      ? []
      : [
          `${name}: ${halt.action === 'revert' ? 'reverting' : 'halted'} since ${halt.at}`,
          ...haltLines({ halt, ...(halt.impact && { impact: halt.impact }) }).map((line) => `  ${line}`),
        ]),
    ...(released === null ? [] : [`${name}: released by a person; ${released.nodes} failed before that`]),
  ];
}

/** Who approved what, and what waits for a person. */
function approvalsIn({ name, config, halt, waves }: Pick<NotedPool, 'name' | 'config' | 'halt' | 'waves'>) {
  const approved = waves.flatMap((wave) => {
    const said = approvedBy(wave);
    return said === undefined ? [] : [`${name}: ${said}, after wave ${wave.name}`];
  });
  const asked = halt === null ? waves.filter(isAwaited) : [];
  return [
    ...approved,
    ...asked.map((wave) =>
      approvalLine(name, { since: wave.pausedAt ?? '', wave: wave.name, configName: config ?? '' }),
    ),
  ];
}

const statusOf = ({ config, updated, ...rest }: NotedClass): ClassStatus => ({
  ...rest,
  ...(config === null ? {} : { configName: config }),
  ...(updated === null ? {} : { updated }),
});
