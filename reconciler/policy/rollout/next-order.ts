import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';

/** The highest number of an order that a KubeletNode speaks of; 0 for none. */
export const lastOrderOf = (node: KubeletNode | undefined): number =>
  Math.max(numberIn(node?.spec?.order), numberIn(node?.status?.obeyedOrder));

/**
 * The number of a node's next order. An agent that obeyed a higher one, which a restored cluster knows nothing of, does not follow it: it
 * reports its number, and the order after that is above it.
 */
export const nextOrderOf = (node: KubeletNode): number => lastOrderOf(node) + 1;

/** What an agent says is foreign. */
const numberIn = (value: number | undefined): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
