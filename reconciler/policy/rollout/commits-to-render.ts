import type { CommitOid } from '../commit-snapshot.ts';
import type { Desired } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import { readProof } from '../proof/record.ts';

/** A commit in the record of a pool that is to say once more what the pool's nodes get. */
export interface CommitToRender {
  readonly pool: string;
  readonly commit: CommitOid;
}

/**
 * Which commits are read again: those that a pool goes back to in a revert, where no node has that config any more and only the record of
 * another leader names it.
 */
export function commitsToRender({ pools }: Desired, fleet: Fleet): readonly CommitToRender[] {
  return [...pools.keys()].flatMap((pool) => {
    const status = fleet.pools.get(pool)?.status;
    if (status?.halt?.action !== 'revert') return [];
    const named = [...readProof(status).values()].flatMap(({ former, commit }) => (former === null ? [] : [commit]));
    return [...new Set(named)].flatMap((commit) => (commit === undefined ? [] : [{ pool, commit }]));
  });
}
