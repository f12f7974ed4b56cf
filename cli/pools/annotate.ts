import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type Kube, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { mergePatchLatest } from '#shared/kube/update.ts';
import { systemClock } from '#shared/runtime/clock.ts';

/** What is to become of a pool's annotation, and what is said about it. `write` is absent where nothing is to be written. */
export interface Wish {
  readonly write?: { readonly annotation: string; readonly value: string | null };
  readonly say: string;
}

/**
 * Decides on the pool as it is at the moment of the write, and again where somebody wrote in between: what is said is what
 * was done.
 */
export async function annotatePool(kube: Kube, name: string, wish: (latest: KubeletPool) => Wish): Promise<string> {
  let said = `${name}: the pool is gone`;
  await mergePatchLatest<KubeletPool>(
    kube,
    { resource: KUBELET_POOLS },
    name,
    (latest) => {
      const { write, say } = wish(latest);
      said = `${name}: ${say}`;
      return write === undefined ? null : { metadata: { annotations: { [write.annotation]: write.value } } };
    },
    { clock: systemClock, random: Math.random },
  );
  return said;
}
