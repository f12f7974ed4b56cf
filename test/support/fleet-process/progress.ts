import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type Kube, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { createInformer } from '#shared/kube/informer.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { Progress } from './asks.ts';

/** How far a rollout is, by the objects in the cluster. */
export interface ProgressView {
  now(): Progress;
  run(signal: AbortSignal): Promise<void>;
}

export function watchProgress(kube: Kube): ProgressView {
  const following = {
    kube,
    clock: systemClock,
    random: Math.random,
    onFault: () => undefined,
    onChange: () => undefined,
  };
  const nodes = createInformer<KubeletNode, boolean>({
    ...following,
    selection: { resource: KUBELET_NODES },
    project: isSettled,
  });
  const pools = createInformer<KubeletPool, string>({
    ...following,
    selection: { resource: KUBELET_POOLS },
    project: ({ status }) => (status?.phase === 'Settled' ? status.commit : undefined),
  });
  return {
    now() {
      const commits = Map.groupBy(pools.items.values(), (commit) => commit);
      return {
        settled: [...nodes.items.values()].filter(Boolean).length,
        pools: Object.fromEntries([...commits].map(([commit, { length }]) => [commit, length])),
      };
    },
    async run(signal) {
      await Promise.all([nodes.run(signal), pools.run(signal)]);
    },
  };
}

function isSettled({ spec, status, metadata }: KubeletNode): boolean {
  const wanted = spec?.configSource?.name;
  const heard = status?.observedGeneration === metadata.generation;
  return wanted !== undefined && heard && status?.phase === 'Idle' && status.lastKnownGood?.name === wanted;
}
