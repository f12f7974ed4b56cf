import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { provenOf } from './proof-claims.ts';
import { classKey, type PoolRecord } from './proof-ledger.ts';

/** What of the status of another pool somebody writes over the one that is there. */
export const FORGERIES = {
  settled: (before, { settled }) => ({ ...before, ...(settled && { settled }) }),
  rollout: (before, { rollout }) => ({ ...before, ...(rollout && { rollout }) }),
  proof: (before, forged) => {
    // Whatever a status has besides what is named here is taken for a record of proof.
    const { settled: _, rollout: __, ...others } = forged;
    return { ...others, ...before, ...('proof' in others ? { proof: others.proof } : {}) };
  },
  all: (_, forged) => forged,
} satisfies Record<string, (before: KubeletPoolStatus, forged: KubeletPoolStatus) => KubeletPoolStatus>;

/** By class, what a status says that it has proven. */
export function claimsOf({ proof }: KubeletPoolStatus, pool: PoolRecord): readonly string[] {
  return provenOf(proof).flatMap(({ name, sha256 }) => {
    const kind = name === '' ? 0 : pool.version.kindOfName.get(name);
    return kind === undefined ? [] : [classKey(pool, kind, sha256)];
  });
}
