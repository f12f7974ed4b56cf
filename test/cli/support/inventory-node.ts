import type { InventoryNode } from '#cli/inventory/inventory-node.ts';

/** A Ready node of the pool `workers`, of which nothing else is known. */
export const inventoryNode = (name: string, more: Partial<InventoryNode> = {}): InventoryNode => ({
  name,
  labels: { pool: 'workers' },
  kubeletVersion: 'v1.34.2',
  osImage: '',
  ready: true,
  capacity: {},
  allocatable: {},
  pods: undefined,
  ...more,
});

/** So many, which are called by the stem and a number from 0 on. */
export const inventoryNodes = (count: number, stem = 'n'): readonly InventoryNode[] =>
  Array.from({ length: count }, (_, index) => inventoryNode(`${stem}${index}`));
