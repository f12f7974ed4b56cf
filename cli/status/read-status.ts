import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { readSource } from './read-source.ts';
import type { StatusView } from './render.ts';

/**
 * Reads what `status` shows: three calls. Throws a `KubeError` where one of them fails. One after the other, so that what follows from
 * something is never shown without it: pools are written after what their nodes report, and the commit in force after its pools.
 */
export async function readClusterStatus(kube: Kube, signal?: AbortSignal): Promise<StatusView> {
  const source = await readSource(kube, signal);
  const pools = await kube.list<KubeletPool>({ resource: KUBELET_POOLS }, signal);
  const nodes = await kube.list<KubeletNode>({ resource: KUBELET_NODES }, signal);
  return { source, pools: byName(pools.items), nodes: byName(nodes.items) };
}

function byName<T extends KubeObject>(objects: readonly T[]): readonly T[] {
  const collator = new Intl.Collator('en', { numeric: true });
  return [...objects].sort((a, b) => collator.compare(a.metadata.name, b.metadata.name));
}
