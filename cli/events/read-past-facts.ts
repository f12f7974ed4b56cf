import {
  type EventObject,
  EVENTS_NAMESPACE,
  OLDER_EVENTS_NAMESPACE,
  REPORTING_CONTROLLER,
} from '#reconciler/reporting/events/event-object.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { EVENTS, type Kube, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import type { PastFacts } from './past-events.ts';

/** Reads what the cluster still knows of the past. @throws KubeError where a call fails */
export async function readPastFacts(kube: Kube, signal?: AbortSignal): Promise<PastFacts> {
  const eventsIn = async (namespace: string): Promise<readonly EventObject[]> =>
    (await kube.list<EventObject>({ resource: EVENTS, namespace }, signal)).items.filter(
      ({ reportingController }) => reportingController === REPORTING_CONTROLLER,
    );
  const [newer, older, nodes, kubeletNodes, pools] = await Promise.all([
    eventsIn(EVENTS_NAMESPACE),
    eventsIn(OLDER_EVENTS_NAMESPACE),
    kube.list<KubeObject>({ resource: NODES }, signal),
    kube.list<KubeletNode>({ resource: KUBELET_NODES }, signal),
    kube.list<KubeletPool>({ resource: KUBELET_POOLS }, signal),
  ]);
  return { events: [...newer, ...older], nodes: nodes.items, kubeletNodes: kubeletNodes.items, pools: pools.items };
}
