import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';

/** The pod that this process runs in, which a drain of its node has to move like any other. */
export interface OwnPod {
  readonly namespace: string;
  readonly name: string;
  /** Lets another process take the lead; this one writes nothing more. Never rejects. */
  handOver(): Promise<void>;
}

interface NodeState extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export const isOwn = (own: OwnPod | null, { name, namespace }: KubeObject['metadata']): boolean =>
  own !== null && own.name === name && own.namespace === namespace;

/** Whether a pod that leaves this node may find another: one that is Ready and takes pods. */
export async function hasOtherNode(kube: Kube, node: string, signal: AbortSignal): Promise<boolean> {
  const { items } = await kube.list<NodeState>({ resource: NODES }, signal);
  return items.some(
    ({ metadata, spec, status }) =>
      metadata.name !== node &&
      spec?.unschedulable !== true &&
      status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true,
  );
}
