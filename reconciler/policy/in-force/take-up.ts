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

/** Decides, pass by pass, which commit is in force. */
export interface TakeUps {
  /** The commit that was let into force since the start; null for none. The record of it in the cluster is written later. */
  inForce(): CommitOid | null;
  /**
   * @param tip       the newest commit that was read, or null
   * @param recorded  the commit that was in force when the cluster was last written; of it, only the signature is judged again
   */
  decide(tip: JudgedSnapshot | null, fleet: Fleet, recorded: CommitOid | null): TakenUp;
}

export function createTakeUps({ load, judge, policy }: TakeUpOptions): TakeUps {
  let inForce: CommitInForce | null = null;
  let read: CommitInForce | null = null;

  return {
    inForce: () => inForce?.oid ?? null,
    decide(tip, fleet, recorded) {
      if (tip === null || tip.commit.oid === inForce?.oid) return { inForce, refused: null };
      const { oid } = tip.commit;
      const signer = judgeSigner(tip.signature);
      if (!signer.takeUp) return { inForce, refused: { commit: oid, reason: signer.reason, message: signer.message } };
      const against = inForce?.oid ?? recorded;
      // Another commit came into force while this one was read: nobody knows how the two relate before the next reading.
      if (oid !== against && tip.since !== against) return { inForce, refused: null };
      // A refused commit is judged again at every pass, because the fleet may change; it is read only once.
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
      inForce = read;
      read = null;
      return { inForce, refused: null };
    },
  };
}
