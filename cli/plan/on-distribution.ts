import { distributionOf } from '#shared/contract/distribution-of-node.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { flagConflicts, whyUnread } from '../distribution-conflicts.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import type { NodeWarning } from './merge-plan.ts';

/** What of a config has no effect on a node of its distribution, which its agent refuses; nothing where that is not known. */
export function onDistribution(node: InventoryNode, { value, spec }: ValidPool): readonly NodeWarning[] {
  const name = distributionOf(node);
  if (name === undefined) return [];
  const unread = whyUnread(name, node.kubeletVersion, spec.apply);
  if (unread !== undefined) return [{ text: `${unread.message}: the node would refuse it`, refuses: true }];
  return flagConflicts(name, node.kubeletVersion, value, node.running).map(({ message, isCertain }) => ({
    text: isCertain ? `${message}: the node would refuse it` : message,
    refuses: isCertain,
  }));
}
