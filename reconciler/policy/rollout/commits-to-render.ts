import type { CommitOid } from '../commit-snapshot.ts';
import type { Desired } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import { isPayload } from './on-trial.ts';
import { readProof } from '../proof/record.ts';

/** A commit in the record of a pool that is to say once more what the pool's nodes get. */
export interface CommitToRender {
  readonly pool: string;
  readonly commit: CommitOid;
  /** A revert waits for it. Otherwise it is only to be seen whether one could go by it later. */
  readonly isAwaited: boolean;
}

/**
 * Which commits are read again: those that a pool goes back to in a revert, where no node has that config any more and only the record of
 * another leader names it; and those of what is proven and in force, while the commit in force could take their place.
 */
export function commitsToRender({ pools }: Desired, fleet: Fleet): readonly CommitToRender[] {
  return [...pools.values()].flatMap((pool) => {
    const status = fleet.pools.get(pool.name)?.status;
    const named = new Map<CommitOid, boolean>();
    for (const { former, proven, commit } of readProof(status).values()) {
      const isAwaited = former !== null && status?.halt?.action === 'revert';
      const isOfBefore = commit !== pool.commit && isPayload(proven, { pool, members: [] });
      if (commit !== undefined && (isAwaited || isOfBefore)) named.set(commit, isAwaited || named.get(commit) === true);
    }
    return [...named].map(([commit, isAwaited]) => ({ pool: pool.name, commit, isAwaited }));
  });
}
