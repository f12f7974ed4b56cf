import type { AuditCheck, AuditSection, CheckResult } from '#cli/audit/audit-report.ts';
import type { NodeFacts } from '#cli/audit/node-facts.ts';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { inventoryNode } from '../../support/inventory-node.ts';

type Config = NodeFacts['running'];

/** A node of 1.34 whose kubelet says that it runs this. */
export const answering = (running: Config, more: Partial<NodeFacts> = {}): NodeFacts => ({
  name: 'n',
  labels: {},
  kubeletVersion: 'v1.34.2',
  osImage: '',
  origin: 'configz',
  running,
  ...more,
});

/** A node of 1.34 with this config file. */
export const withFile = (running: Config, more: Partial<NodeFacts> = {}): NodeFacts =>
  answering(running, { origin: 'file', ...more });

/** The same with its Node: 4 cores and 16 GiB, unless that says otherwise. */
export const sized = (facts: NodeFacts, more: Partial<InventoryNode> = {}): NodeFacts => {
  const { name, labels, kubeletVersion } = facts;
  const capacity = { cpu: '4', memory: '16Gi', pods: '110' };
  return { ...facts, node: inventoryNode(name, { labels, kubeletVersion, capacity, ...more }) };
};

export function checkIn({ checks }: AuditSection, id: string): AuditCheck {
  const found = checks.find((check) => check.id === id);
  if (found === undefined) throw new Error(`no ${id} among ${checks.map((check) => check.id).join(', ')}`);
  return found;
}

/** Names of the nodes for which a check came out so. */
export const nodesOf = ({ groups }: AuditCheck, result: CheckResult): readonly string[] =>
  groups.flatMap((group) => (group.result === result ? group.nodes : [])).sort();
