import type { Millis } from '#shared/runtime/clock.ts';
import type { NodeView } from '../fleet.ts';
import type { Group, Member } from './membership.ts';
import { assignmentOf, hasProvedAny, type NodeTarget, progressOf, sameTarget } from './node-progress.ts';

/** A node that is not older than this counts as new. */
export const NEW_NODE_MS: Millis = 15 * 60_000;

export const isYoung = ({ firstSeen, createdAt }: NodeView, now: Millis): boolean =>
  now - (firstSeen ?? createdAt) <= NEW_NODE_MS;

/** No older than `NEW_NODE_MS`, without any config of ours, and none proven. */
export function isNew({ kubeletNode, node }: Member, now: Millis): boolean {
  return isYoung(node, now) && assignmentOf(kubeletNode) === null && !hasProvedAny(kubeletNode);
}

/** It was new when it was told its first config, and nobody depended on it: one that served before holds its place like any other. */
export const wasNew = ({ node }: Member, now: Millis): boolean =>
  (node.assignedSince ?? now) - (node.firstSeen ?? node.createdAt) <= NEW_NODE_MS;

/** It was told a config that is known to be good as its first one, and has yet to prove it. Who was granted a turn is not new. */
export function isOnFirstTrial({ kubeletNode }: Member, { pool }: Group, target: NodeTarget, now: Millis): boolean {
  if (target === null || kubeletNode?.spec?.turn !== undefined) return false;
  if (hasProvedAny(kubeletNode) || kubeletNode?.spec?.pool !== pool?.name) return false;
  return sameTarget(assignmentOf(kubeletNode), target) && progressOf(kubeletNode, target, now) === 'updating';
}
