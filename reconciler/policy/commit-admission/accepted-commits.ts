import { type CommitInForce, type Desired, type DesiredPool, desiredState } from '../desired.ts';
import type { JudgePool } from '../config-repo/judge-pool.ts';
import type { Fleet } from '../fleet.ts';
import type { CommitOid, Snapshot } from '../commit-snapshot.ts';
import {
  type FormerLimits,
  formerLimits,
  type Limits,
  limitsOf,
  NOTHING_BEFORE,
  type RecordedLimits,
} from '../commit-limits.ts';
import type { LoadedRepo, PoolBounds } from '../config-repo/loaded-repo.ts';
import { DEFAULT_CLUSTER } from '../config-repo/read-cluster.ts';
import type { JudgedSnapshot } from '../commit-snapshot.ts';
import { recoveredCommit } from './recovered-commit.ts';
import { explainRefusal, type RefusedCommit } from './refusal-cause.ts';
import { judgeCommit, judgeSigner, type RefusalReason, type RewritePolicy } from './refuse-commit.ts';

/** A commit that could not be read within the limits. */
export interface UnreadCommit {
  /** Why, as a clause. */
  readonly unread: string;
}

export interface CommitDecision {
  /** null until a commit was let into force since the start. */
  readonly inForce: CommitInForce | null;
  /** The tip of the branch, if it was refused. */
  readonly refused: RefusedCommit | null;
  /** The tip of the branch, while it is to be read. */
  readonly reading?: CommitOid;
}

export interface AcceptedCommitsOptions {
  /**
   * @param boundsBefore what the commit before lets pools say; undefined where the commit's own file counts
   * @returns null while it is being read
   */
  readonly load: (snapshot: Snapshot, boundsBefore?: PoolBounds) => LoadedRepo | UnreadCommit | null;
  readonly judge: JudgePool;
  readonly policy: RewritePolicy;
}

/** What the record in the cluster says of commits; it is written after each decision. */
export interface RecordedCommits {
  /** The one in force; of it, only the signature is judged again. */
  readonly inForce: CommitOid | null;
  /** The tip that was refused last, by whatever process. */
  readonly refused: RefusedCommit | null;
  /** Whether that stands while the one in force is read. Absent: it is one of before, to which the branch was set back. */
  readonly isRefusalStanding?: boolean;
  /** Of the one in force: what it was judged by, and what it holds the next one to. Absent: unknown. */
  readonly limits?: RecordedLimits;
  /** Limits before the one in force that hold besides its own. */
  readonly former?: FormerLimits | undefined;
}

/** Decides, pass by pass, which commit is in force. */
export interface AcceptedCommits {
  /** The commit that was let into force since the start; null for none. The record of it in the cluster is written later. */
  inForce(): CommitOid | null;
  /** What its files say. */
  repo(): LoadedRepo | null;
  /**
   * Changes nothing, so that it can be asked with parts of the fleet.
   *
   * @param tip the newest commit that was read, or null
   */
  consider(tip: JudgedSnapshot | null, fleet: Fleet, recorded: RecordedCommits): CommitDecision;
  /**
   * What was considered holds from now on.
   *
   * @param desired what it means for the fleet; its pools are remembered for commits with errors in them
   */
  keep(taken: CommitDecision, desired?: Desired): void;
  /** Pools as commits in force said them since the start, by name: what is kept of one that the present commit has errors in. */
  known(): ReadonlyMap<string, DesiredPool>;
}

/**
 * Refusals that another fleet could lift: then a commit would come into force by itself, hours later, because nodes joined. They last
 * until there is another commit.
 */
export const LASTING_REFUSALS: readonly RefusalReason[] = [
  'no-pools',
  'unassigns-too-many',
  'changes-too-many',
  'ended-the-reconciler',
];

export function createAcceptedCommits({ load, judge, policy }: AcceptedCommitsOptions): AcceptedCommits {
  let inForce: CommitInForce | null = null;
  let read: CommitInForce | null = null;
  /** The one that could not be read last, so that it is not read again. */
  let unread: RefusedCommit | null = null;
  let last: RefusedCommit | null = null;
  const known = new Map<string, DesiredPool>();

  /** Reads a commit as what is in force before it lets it be read. */
  function readTip(
    tip: JudgedSnapshot,
    recorded: RecordedCommits,
    limits: Limits | undefined,
  ): CommitInForce | RefusedCommit | null {
    const { oid } = tip.commit;
    const { fields, trial } = limits ?? recorded.limits?.boundsBefore ?? NOTHING_BEFORE;
    const boundsBefore: PoolBounds = { fields, ...(trial && { trial }) };
    const repo = load(tip, boundsBefore);
    if (repo === null) return null;
    const because = 'unread' in repo ? repo.unread : repo.tooLarge;
    if ('unread' in repo || because !== undefined) return tooLarge(oid, because ?? '');
    const loosened = limits && tip.since !== null ? formerLimits(limits, inForce?.repo ?? null, repo) : undefined;
    const former = limits === undefined ? recorded.former : loosened;
    return { oid, repo, boundsBefore, ...(former && { former }) };
  }

  return {
    inForce: () => inForce?.oid ?? null,
    repo: () => inForce?.repo ?? null,
    known: () => known,
    keep(taken, desired) {
      ({ inForce, refused: last } = taken);
      const declared = new Set(inForce?.repo.pools.map(({ name }) => name));
      for (const name of known.keys()) if (!declared.has(name)) known.delete(name);
      for (const pool of desired?.pools.values() ?? []) if (pool.origin === 'rendered') known.set(pool.name, pool);
    },
    consider(tip, fleet, recorded) {
      // What ended processes is in the record alone, where a person may release it.
      const refused = last?.reason === 'ended-the-reconciler' ? null : last;
      // A process that has not read the branch yet knows no other commit than the one that was refused.
      if (tip === null) return { inForce, refused: refused ?? recorded.refused };
      const standing = recorded.isRefusalStanding === true ? recorded.refused : null;
      if (tip.commit.oid === inForce?.oid) return { inForce, refused: standing };
      const { oid } = tip.commit;
      const signer = judgeSigner(tip.signature);
      if (!signer.accepted)
        return { inForce, refused: { commit: oid, reason: signer.reason, message: signer.message } };
      const against = inForce?.oid ?? recorded.inForce ?? recoveredCommit(fleet);
      const before = [refused, recorded.refused].find((each) => each?.commit === oid);
      if (oid !== against && before?.commit === oid && LASTING_REFUSALS.includes(before.reason)) {
        return { inForce, refused: before };
      }
      // Another commit came into force while this one was read: how the two relate is unknown before the next reading.
      if (oid !== against && tip.since !== against) return { inForce, refused: null };
      // It may be asked again and again, and is read only once.
      const limits = oid === against ? undefined : limitsBefore(inForce, recorded, against);
      if (unread?.commit === oid) return { inForce, refused: unread };
      if (read?.oid !== oid) {
        const found = readTip(tip, recorded, limits);
        if (found === null) return { inForce, refused: null, reading: oid };
        if ('reason' in found)
          return {
            inForce,
            refused: (unread = explainRefusal(tip.commit, found, refused ?? recorded.refused, against)),
          };
        read = found;
      }
      const { repo } = read;
      const verdict =
        oid === against
          ? ({ accepted: true } as const)
          : judgeCommit(
              {
                lineage: tip.lineage,
                repo,
                desired: desiredState(read, fleet, judge, undefined, known),
                before: desiredState(inForce, fleet, judge, undefined, known),
                ...(against === null || limits === undefined ? {} : { limits }),
              },
              policy,
              fleet,
            );
      if (!verdict.accepted) {
        return { inForce, refused: explainRefusal(tip.commit, verdict, refused ?? recorded.refused, against) };
      }
      return { inForce: read, refused: oid === against ? standing : null };
    },
  };
}

const tooLarge = (commit: CommitOid, because: string): RefusedCommit => ({
  commit,
  reason: 'too-large',
  message: `${because}. Commit less: spread it over several repositories, or take out what no pool needs`,
});

/** What a commit is held to that is not in force yet; the very first one to its own limits of trials alone. */
function limitsBefore(inForce: CommitInForce | null, { limits }: RecordedCommits, against: CommitOid | null): Limits {
  if (inForce !== null) return limitsOf(inForce.repo.cluster);
  if (limits !== undefined) return limits.limits;
  const { trial, ...usual } = limitsOf(DEFAULT_CLUSTER);
  return { ...usual, ...NOTHING_BEFORE, ...(against !== null && { trial }) };
}
