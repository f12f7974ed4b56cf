import type { Condition, KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, NODES, type Trim } from '#shared/kube/kube.ts';

/** The pod that this process runs in, which a drain of its node has to move like any other. */
export interface OwnPod {
  readonly namespace: string;
  readonly name: string;
  /** Lets another process take the lead; this one writes nothing more. Never rejects. */
  handOver(): Promise<void>;
}

interface NodeState extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean | undefined };
  readonly status?: { readonly conditions?: readonly Pick<Condition, 'type' | 'status'>[] | undefined };
}

export const isOwnPod = (own: OwnPod | null, { name, namespace }: KubeObject['metadata']): boolean =>
  own !== null && own.name === name && own.namespace === namespace;

/** All Nodes of a large cluster, with their images, take more memory than we may have. */
const bare: Trim<NodeState> = ({ metadata: { name }, spec, status }) => ({
  metadata: { name },
  spec: { unschedulable: spec?.unschedulable },
  status: { conditions: status?.conditions },
});

/** Whether a pod that leaves this node may find another: one that is Ready and takes pods. */
export async function hasOtherNode(kube: Kube, node: string, signal: AbortSignal): Promise<boolean> {
  const { items } = await kube.list({ resource: NODES }, signal, bare);
  return items.some(
    ({ metadata, spec, status }) =>
      metadata.name !== node &&
      spec?.unschedulable !== true &&
      status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true,
  );
}
