import { plainLine } from '../../git/plain-text.ts';
import type { CommitNote, CommitOutcome, NotedPool } from '../notes/commit-note.ts';

/** superseded: another commit took its place before it was settled; forges have different words for that. */
export type StatusState = 'pending' | 'success' | 'failure' | 'superseded';

/** One line beside a commit on its forge. */
export interface CommitStatus {
  /** What it is about: `kubelet-gitops/<cluster>` as a whole, or `kubelet-gitops/<cluster>/<pool>`. */
  readonly context: string;
  readonly state: StatusState;
  readonly description: string;
}

/** The shortest that any of the forges takes: GitHub's. */
export const LONGEST_DESCRIPTION = 140;
/** GitLab's, and what databases usually hold. */
const LONGEST_CONTEXT = 255;
/** More would bury the checks of others: what is beyond is in the cluster's own line. */
export const MOST_STATUSES = 20;

const OVERALL: Readonly<Record<CommitOutcome, StatusState>> = {
  settled: 'success',
  progressing: 'pending',
  halted: 'failure',
  'partly-refused': 'failure',
  refused: 'failure',
  superseded: 'superseded',
};

/** What was said of the commit before, by context. */
export interface PublishedBefore {
  readonly said: ReadonlySet<string>;
  /** Those of them that are still pending. */
  readonly pending: ReadonlySet<string>;
}

const NOTHING: PublishedBefore = { said: new Set(), pending: new Set() };

/**
 * What a commit's note comes to in statuses: one for the cluster, then one for each pool. Pure.
 *
 * @param before a pool that something was said of is never dropped: it would stay red, or pending, for good
 */
export function statusesOf(note: CommitNote, before: PublishedBefore = NOTHING): readonly CommitStatus[] {
  const root = `kubelet-gitops/${note.cluster}`;
  const state = OVERALL[note.outcome];
  const pools = note.pools.filter((pool) => pool.origin !== 'retiring' || pool.counts?.nodes !== 0);
  // What needs a person's eye comes first, so that it is never what is left out.
  const byNeed = [...pools].sort((a, b) => rank(a) - rank(b));
  const listed = byNeed.filter(
    (pool, index) => index < MOST_STATUSES || before.said.has(contextOf(`${root}/${pool.name}`)),
  );
  const present = listed.map((pool) => poolStatus(root, pool, note.outcome === 'superseded'));
  const there = new Set(pools.map((pool) => contextOf(`${root}/${pool.name}`)));
  const gone = [...before.pending].filter((context) => context.startsWith(`${root}/`) && !there.has(context));
  return [
    { context: contextOf(root), state, description: describe(overall(note, pools.length)) },
    ...present,
    ...gone.map((context) => retired(context, note.outcome === 'superseded' || note.outcome === 'refused')),
  ];
}

/** A pool that left while the commit was under way, or of which a commit that is over no longer speaks. */
const retired = (context: string, isOver: boolean): CommitStatus =>
  isOver
    ? { context, state: 'superseded', description: 'superseded while it was under way' }
    : {
        context,
        state: 'success',
        description: 'retired: its nodes are back on their local config, or in another pool',
      };

const rank = (pool: NotedPool): number => (stateOf(pool) === 'failure' ? 0 : 1);

function overall(note: CommitNote, pools: number): string {
  if (note.message !== '') return note.message;
  const count = (wanted: StatusState): number => note.pools.filter((pool) => stateOf(pool) === wanted).length;
  const found = note.findings[0] ?? '';
  if (note.outcome === 'partly-refused' && found !== '') return found;
  const left = pools > MOST_STATUSES ? `, ${pools - MOST_STATUSES} of them not listed` : '';
  return `${note.outcome}: ${count('success')} of ${pools} pools settled${left}`;
}

function poolStatus(root: string, pool: NotedPool, superseded: boolean): CommitStatus {
  const state = stateOf(pool);
  const context = contextOf(`${root}/${pool.name}`);
  if (superseded && state === 'pending') {
    return { context, state: 'superseded', description: describe(`superseded at ${progress(pool)}`) };
  }
  return { context, state, description: describe(wordsFor(pool)) };
}

function stateOf(pool: NotedPool): StatusState {
  if (pool.origin === 'kept' && pool.findings.length > 0) return 'failure';
  switch (pool.phase) {
    case 'Halted':
      return 'failure';
    case 'Progressing':
    case 'Waiting':
      return 'pending';
    case 'Settled':
    case 'Empty':
      return 'success';
  }
}

function wordsFor(pool: NotedPool): string {
  const [finding] = pool.findings;
  if (pool.origin === 'kept' && finding !== undefined) return `kept as it was: ${finding}`;
  const [failure] = pool.failures;
  if (pool.phase === 'Halted') {
    return failure === undefined
      ? `halted at ${progress(pool)}`
      : `halted at ${progress(pool)}: ${failure.node}: ${failure.reason}`;
  }
  if (pool.phase === 'Empty') return 'no node matches';
  return `${pool.phase.toLowerCase()}: ${progress(pool)} run ${pool.config ?? 'their local config'}`;
}

function progress({ counts }: NotedPool): string {
  return counts === null ? 'no node yet' : `${counts.updated} of ${counts.nodes} nodes`;
}

const describe = (text: string): string => plainLine(text, LONGEST_DESCRIPTION);
const contextOf = (text: string): string => plainLine(text, LONGEST_CONTEXT);
