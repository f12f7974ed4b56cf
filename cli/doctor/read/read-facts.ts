import type { Lease } from '#reconciler/cluster/leader/lease.ts';
import { readSourceState, SOURCE_STATE_NAME, type StateConfigMap } from '#reconciler/telling/report/source-state.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, LEASES, NODES } from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { type Facts, type NodeFact, type Part, valueOr } from '../facts.ts';
import { readCrds } from './crds.ts';
import { readMissingRights } from './missing-rights.ts';
import { mapPart, partOf } from './part.ts';
import { RECONCILER, SERVICES, WEBHOOK_SERVICE } from './resources.ts';
import { stampOf } from './stamps.ts';
import { readAgents, readPods, readReconciler } from './workloads.ts';

/** Reads everything that `diagnose` looks at. Changes nothing, never rejects: what cannot be read is a fact, too. */
export async function readFacts(kube: Kube, transport: Transport, namespace: string, now: Millis): Promise<Facts> {
  const items = async <T extends KubeObject>(listing: Promise<{ readonly items: readonly T[] }>) =>
    (await listing).items;
  const [crds, reconciler, agents, pods, lease, source, webhookService, missingRights, nodes, kubeletNodes, pools] =
    await Promise.all([
      partOf(readCrds(kube)),
      partOf(readReconciler(kube, namespace)),
      partOf(readAgents(kube, namespace)),
      partOf(readPods(kube, namespace)),
      partOf(kube.get<Lease>({ resource: LEASES, namespace }, RECONCILER)),
      mapPart(partOf(kube.get<StateConfigMap>({ resource: CONFIG_MAPS, namespace }, SOURCE_STATE_NAME)), (map) =>
        map === null ? null : readSourceState(map),
      ),
      partOf(kube.get({ resource: SERVICES, namespace }, WEBHOOK_SERVICE).then((service) => service !== null)),
      partOf(readMissingRights(transport, namespace)),
      mapPart(partOf(items(kube.list({ resource: NODES }))), (all) => all.map(viewNode)),
      partOf(items(kube.list<KubeletNode>({ resource: KUBELET_NODES }))),
      partOf(items(kube.list<KubeletPool>({ resource: KUBELET_POOLS }))),
    ]);
  const facts = { crds, reconciler, agents, pods, source, webhookService, missingRights, nodes, kubeletNodes, pools };
  return { ...facts, now, namespace, lease, stamps: stampsIn(lease, kubeletNodes) };
}

interface NodeObject extends KubeObject {
  readonly status?: { readonly nodeInfo?: { readonly kubeletVersion?: string } };
}

function viewNode({ metadata, status }: NodeObject): NodeFact {
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '',
    createdAt: fromTimestamp(metadata.creationTimestamp),
  };
}

function stampsIn(lease: Part<Lease | null>, kubeletNodes: Part<readonly KubeletNode[]>): Facts['stamps'] {
  const leader = valueOr(lease, null);
  return [
    ...(leader === null ? [] : stampOf('the leading reconciler', leader, 'f:spec', leader.spec?.renewTime)),
    ...valueOr(kubeletNodes, []).flatMap((node) =>
      stampOf(`node ${node.metadata.name}`, node, 'f:status', node.status?.heartbeat),
    ),
  ];
}
