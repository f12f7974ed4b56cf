import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import {
  CONFIG_SOURCE_SELECTOR,
  viewConfigSource,
  viewKubeletNode,
  viewKubeletPool,
  viewNode,
} from '#reconciler/cluster/object-views.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { explainNodes, type NodeReason } from '#reconciler/policy/pool-status/explain-nodes.ts';
import { planFromCluster } from '#reconciler/reporting/pass-result-from-cluster.ts';

/** Everything that the planner looks at, read once. Throws a `KubeError` where a call fails. */
export async function readFleet(kube: Kube, namespace: string, signal?: AbortSignal): Promise<Fleet> {
  const [nodes, kubeletNodes, pools, sources] = await Promise.all([
    kube.list<KubeObject>({ resource: NODES }, signal),
    kube.list<KubeletNode>({ resource: KUBELET_NODES }, signal),
    kube.list<KubeletPool>({ resource: KUBELET_POOLS }, signal),
    kube.list<KubeObject>({ resource: CONFIG_MAPS, namespace, labelSelector: CONFIG_SOURCE_SELECTOR }, signal),
  ]);
  const named = <T>(items: readonly KubeObject[], view: (item: KubeObject) => T): ReadonlyMap<string, T> =>
    new Map(items.map((item) => [item.metadata.name, view(item)]));
  return {
    nodes: named(nodes.items, viewNode),
    kubeletNodes: named(kubeletNodes.items, viewKubeletNode),
    pools: named(pools.items, viewKubeletPool),
    configSources: named(sources.items, viewConfigSource),
  };
}

/**
 * What the planner says of every node now, on what the cluster holds.
 *
 * @param source the record of the commit in force
 */
export function nodeReasonsOf(
  fleet: Fleet,
  source: SourceState,
  namespace: string,
  now: Millis,
): readonly NodeReason[] {
  return explainNodes(planFromCluster(fleet, source, namespace, now).planned.nodes, fleet, now);
}
