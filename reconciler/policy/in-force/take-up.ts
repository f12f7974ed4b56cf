import { type CommitInForce, desiredState, type JudgePool } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import type { CommitOid, Snapshot } from '../commit.ts';
import type { LoadedRepo } from '../repo/loaded.ts';
import type { JudgedSnapshot } from '../commit.ts';
import { judgeCommit, judgeSigner, type RefusalReason, type RewritePolicy } from './refuse-commit.ts';

export interface RefusedCommit {
  readonly commit: CommitOid;
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface TakenUp {
  /** null until a commit was let into force since the start. */
  readonly inForce: CommitInForce | null;
  /** The tip of the branch, where it was not let into force. */
  readonly refused: RefusedCommit | null;
}

export interface TakeUpOptions {
  readonly load: (snapshot: Snapshot) => LoadedRepo;
  readonly judge: JudgePool;
  readonly policy: RewritePolicy;
}

/** What the record in the cluster says of commits; it is written after each decision. */
export interface RecordedCommits {
  /** The one in force; of it, only the signature is judged again. */
  readonly inForce: CommitOid | null;
  /** The tip that was refused last, by whatever process. */
  readonly refused: RefusedCommit | null;
}

/** Decides, pass by pass, which commit is in force. */
export interface TakeUps {
  /** The commit that was let into force since the start; null for none. The record of it in the cluster is written later. */
  inForce(): CommitOid | null;
  /**
   * Changes nothing, so that it can be asked with parts of the fleet.
   *
   * @param tip the newest commit that was read, or null
   */
  consider(tip: JudgedSnapshot | null, fleet: Fleet, recorded: RecordedCommits): TakenUp;
  /** What was considered holds from now on. */
  keep(taken: TakenUp): void;
}

/**
 * Refusals that another fleet could lift: then a commit would come into force by itself, hours later, because nodes joined. They last
 * until there is another commit.
 */
export const LASTING: readonly RefusalReason[] = ['no-pools', 'unassigns-too-many', 'changes-too-many'];

export function createTakeUps({ load, judge, policy }: TakeUpOptions): TakeUps {
  let inForce: CommitInForce | null = null;
  let read: CommitInForce | null = null;
  let refused: RefusedCommit | null = null;

  return {
    inForce: () => inForce?.oid ?? null,
    keep(taken) {
      if (taken.inForce !== inForce) read = null;
      ({ inForce, refused } = taken);
    },
    consider(tip, fleet, recorded) {
      // A process that has not read the branch yet knows no other commit than the one that was refused.
      if (tip === null) return { inForce, refused: refused ?? recorded.refused };
      if (tip.commit.oid === inForce?.oid) return { inForce, refused: null };
      const { oid } = tip.commit;
      const signer = judgeSigner(tip.signature);
      if (!signer.takeUp) return { inForce, refused: { commit: oid, reason: signer.reason, message: signer.message } };
      const against = inForce?.oid ?? recorded.inForce;
      const before = [refused, recorded.refused].find((last) => last?.commit === oid);
      if (oid !== against && before?.commit === oid && LASTING.includes(before.reason)) {
        return { inForce, refused: before };
      }
      // Another commit came into force while this one was read: nobody knows how the two relate before the next reading.
      if (oid !== against && tip.since !== against) return { inForce, refused: null };
      // It may be asked again and again, and is read only once.
      if (read?.oid !== oid) read = { oid, repo: load(tip) };
      const verdict =
        oid === against
          ? ({ takeUp: true } as const)
          : judgeCommit(
              { lineage: tip.lineage, repo: read.repo, desired: desiredState(read, fleet, judge) },
              policy,
              fleet,
            );
      if (!verdict.takeUp) {
        return { inForce, refused: { commit: oid, reason: verdict.reason, message: verdict.message } };
      }
      return { inForce: read, refused: null };
    },
  };
}
