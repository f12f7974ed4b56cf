import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { desiredState } from '#reconciler/desired.ts';
import type { Fleet } from '#reconciler/fleet.ts';
import {
  CONFIG_SOURCE_SELECTOR,
  viewConfigSource,
  viewKubeletNode,
  viewKubeletPool,
  viewNode,
} from '#reconciler/observe.ts';
import { plan } from '#reconciler/plan.ts';
import { recordedPolicy } from '#reconciler/rollout/cluster-policy.ts';
import { explainNodes, type NodeReason } from '#reconciler/rollout/explain.ts';
import type { Signals } from '#reconciler/rollout/gates.ts';

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
 * What the planner says of every node now: the reconciler's own decision, made once more on what the cluster holds. What it
 * asks others for (blockers) is taken from what the pools' status says of it.
 *
 * @param policy the recorded policy of the cluster, as JSON
 */
export function whyNodes(fleet: Fleet, policy: string, namespace: string, now: Millis): readonly NodeReason[] {
  const desired = desiredState(null, fleet, () => [], recordedPolicy(policy));
  const settings = { namespace, keepUnusedMs: Number.POSITIVE_INFINITY };
  return explainNodes(plan(desired, fleet, settings, now, toldBy(fleet)).nodes, fleet);
}

function toldBy(fleet: Fleet): Signals {
  const blockers = [...fleet.pools].map(([name, { status }]) => {
    const blocked = status?.holds?.find(({ reason }) => reason === 'blocked');
    return [name, { quiet: blocked === undefined, because: blocked?.message ?? '' }] as const;
  });
  return { blockers: new Map(blockers), drains: new Map() };
}
