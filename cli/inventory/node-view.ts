import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { InventoryNode } from './inventory-node.ts';

/**
 * A node as the planner sees it.
 *
 * @param index its place in the inventory, which counts where that does not say how old nodes are
 */
export function nodeViewOf(node: InventoryNode, index: number, now: Millis): NodeView {
  const { name, labels, kubeletVersion, createdAt, ready, cordoned = false, declares } = node;
  const since = now - 365 * 86_400_000 + index;
  const times = { readySince: since, createdAt: createdAt ?? since };
  const features = declares === undefined ? {} : { declares };
  return {
    name,
    uid: name,
    labels,
    ready,
    cordoned,
    kubeletVersion,
    size: node,
    ...features,
    ...marksIn(node),
    ...times,
  };
}

/** What its taints and its deletion say. */
export const marksIn = ({
  virtual,
  leaving,
  deletionCandidate,
}: InventoryNode): Pick<NodeView, 'virtual' | 'leaving' | 'deletionCandidate'> => ({
  ...(virtual && { virtual }),
  ...(leaving !== undefined && { leaving }),
  ...(deletionCandidate && { deletionCandidate }),
});
