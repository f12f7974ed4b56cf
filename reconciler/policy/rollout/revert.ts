import type { Halt } from '#shared/contract/api/kubelet-pool.ts';
import type { Group, Member } from './membership.ts';
import {
  activeConfigOf,
  assignmentOf,
  hasProved,
  type NodeTarget,
  provenConfigOf,
  sameTarget,
} from './node-progress.ts';
import { isPayload } from './on-trial.ts';

/** What a revert does to a node. */
export interface Revert {
  /** What the node goes back to by itself, where the pool has nothing to go back to. */
  readonly own: FallbackConfig | null;
  /** Whether the node goes back to what the pool settled on before, or to its local config. */
  readonly takesBack: boolean;
}

export const NO_REVERT: Revert = { own: null, takesBack: false };

/**
 * What a revert takes back from one node: the failed payload, in favour of what the pool settled on before; where the pool never settled
 * on anything, in favour of what the node itself fell back to.
 *
 * @param former what its class proved before; null for nothing
 * @param isLast where nothing is left to go back to, what the node has proven is better than nothing
 */
export function revertOf(member: Member, former: NodeTarget, isLast: boolean): Revert {
  const { kubeletNode, isAssigned, target } = member;
  // Where the pool never settled on anything, a config from before, or from another pool, is no part of the failure.
  const isSpared = former === null && !isAssigned && assignmentOf(kubeletNode) !== null;
  const isRunning = sameTarget(activeConfigOf(kubeletNode), target);
  if (sameTarget(former, target) || (isSpared && !isRunning)) return NO_REVERT;
  const own = former === null ? fallbackConfigOf(member, target) : null;
  const isKept = isLast && own === null && former === null;
  return { own, takesBack: !(isKept && hasProved(kubeletNode, target)) };
}

/** A config of ours that a node falls back to. */
interface FallbackConfig {
  readonly configName: string;
  readonly target: NonNullable<NodeTarget>;
}

/** What a node ran before it was told this target, where it knows that still: null once it has proven the target, or ran its local config. */
function fallbackConfigOf({ kubeletNode }: Member, target: NodeTarget): FallbackConfig | null {
  const proven = provenConfigOf(kubeletNode);
  if (proven === null || sameTarget(proven, target)) return null;
  return { configName: kubeletNode?.status?.lastKnownGood?.name ?? '', target: proven };
}

/** A node's next change, and what its group is about. */
interface RevertQuestion {
  readonly targeted: { readonly targetKind: string; readonly member: Pick<Member, 'kubeletNode'> };
  readonly facts: { readonly halt: Halt | null; readonly group: Group };
}

/** Taking a payload back ends harm, where a node was assigned it or runs it: the node waits for nothing but a person. */
export const isRevertOfPayload = ({
  targeted: { targetKind, member },
  facts: { halt, group },
}: RevertQuestion): boolean => {
  if (halt?.action !== 'revert' || targetKind === 'config') return false;
  const { kubeletNode } = member;
  return isPayload(assignmentOf(kubeletNode), group) || isPayload(activeConfigOf(kubeletNode), group);
};
