import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Fleet, NodeView } from './fleet.ts';

/** The KubeletNode of this very Node: one that was left behind by an earlier Node of the same name does not count. */
export function kubeletNodeOf(node: NodeView, fleet: Pick<Fleet, 'kubeletNodes'>): KubeletNode | undefined {
  const found = fleet.kubeletNodes.get(node.name);
  return found !== undefined && isOwnedBy(found, node.uid) ? found : undefined;
}

/** @param uid of a Node */
export function isOwnedBy({ metadata: { ownerReferences } }: KubeletNode, uid: string): boolean {
  if (ownerReferences === undefined) return false;
  for (const owner of ownerReferences) if (owner.uid === uid) return true;
  return false;
}
