import { isDeepStrictEqual } from 'node:util';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { Desired } from '../../policy/desired.ts';
import type { Fleet } from '../../policy/fleet.ts';
import { displacedNotes } from './displaced-notes.ts';
import { type CommitNote, nextNote, noteInForce, type CommitLimits } from './commit-note.ts';
import type { ReleasedCommit } from '../../policy/following/record.ts';
import type { SourceState } from './source-state.ts';

/** What a pass knows of the commit in force. */
export interface NotedPass {
  /** The record as it was before the pass. */
  readonly recorded: SourceState;
  /** What a person let through last, past the clusters that are followed. Absent or null for nothing. */
  readonly letThrough?: ReleasedCommit | null;
  readonly desired: Desired;
  readonly statuses: ReadonlyMap<string, KubeletPoolStatus>;
  readonly fleet: Fleet;
  readonly limits: CommitLimits | undefined;
  /** Remarks on nodes that must not be changed, because the commit's pools do not say which pool they belong to. */
  readonly leftAlone: readonly string[];
}

export interface DueNotes {
  /** On the commit in force; null where there is none, or nothing more to say of it. */
  readonly present: CommitNote | null;
  /** On commits that it displaced. */
  readonly displaced: readonly CommitNote[];
}

/**
 * The notes that are due after a pass. It remembers what was said last.
 *
 * @param onFault hears why the status of a pool cannot be put into words: then the commit before is said to be displaced, by what
 *   was said of it last
 */
export function createDueNotes(cluster: string, onFault: (error: unknown) => void): (round: NotedPass) => DueNotes {
  let last: CommitNote | null = null;
  /** What the last pass wanted. */
  let meant: Meaning | null = null;
  /** The record has it no more once a commit ends the following. */
  let through: ReleasedCommit | null = null;

  function due({ recorded, letThrough, desired, statuses, fleet, limits, leftAlone }: NotedPass): DueNotes {
    const { commit } = desired;
    const displaced = displacedNotes({ recorded, last, commit: commit ?? recorded.commit, cluster, fleet });
    if (commit === null) return { present: null, displaced };
    if (letThrough?.oid === commit) through = letThrough;
    const said = through?.oid === commit ? through.said : '';
    const now = noteInForce(cluster, commit, desired, statuses, limits, leftAlone, said);
    const done = recorded.commit === commit && recorded.outcome !== '';
    // A commit that changes nothing here stays settled while nodes come and go. Otherwise clusters that follow would start their wait again.
    const isDone = last?.outcome === 'settled' && last.commit !== commit && isSameMeaning(meant, desired);
    const present = nextNote(isDone && last !== null ? { ...last, commit, message: now.message } : last, now, done);
    last = present ?? last;
    meant = desired;
    return { present, displaced };
  }

  return (round) => {
    try {
      return due(round);
    } catch (error) {
      onFault(error);
      const { recorded, desired, fleet } = round;
      const { commit } = desired;
      const known = last?.commit === recorded.commit ? last : unfinished(cluster, recorded.commit);
      const displaced = displacedNotes({ recorded, last: known, commit: commit ?? recorded.commit, cluster, fleet });
      return { present: null, displaced };
    }
  };
}

type Meaning = Pick<Desired, 'pools' | 'policy'>;

const isSameMeaning = (before: Meaning | null, now: Meaning): boolean =>
  before !== null && isDeepStrictEqual(meaningOf(before), meaningOf(now));

const meaningOf = ({ pools, policy }: Meaning): unknown => [
  policy,
  new Map([...pools].map(([name, { origin, spec, config }]) => [name, { origin, spec, config: config?.sha256 }])),
];

/** Of a commit of which nothing can be told but that it is not on record as done. */
const unfinished = (cluster: string, commit: CommitOid): CommitNote => ({
  cluster,
  commit,
  outcome: 'progressing',
  message: '',
  limits: null,
  pools: [],
  findings: [],
});
