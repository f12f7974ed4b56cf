import type { Millis } from '#shared/runtime/clock.ts';
import type { Fleet } from './fleet.ts';
import { isOwnedBy } from './kubelet-node-of.ts';
import type { Step } from './steps.ts';

/** One KubeletNode for every Node, so that every agent has a place to report to, and none for Nodes that are gone. */
export function presenceSteps(fleet: Fleet, now: Millis): readonly Step[] {
  const left: Step[] = [];
  for (const [name, kubeletNode] of fleet.kubeletNodes) {
    const node = fleet.nodes.get(name);
    if (node !== undefined && isOwnedBy(kubeletNode, node.uid)) continue;
    left.push({ step: 'delete-node', node: name, uid: kubeletNode.metadata.uid ?? '' });
  }
  const missing: Step[] = [];
  for (const { name, uid, firstSeen: at = now } of fleet.nodes.values()) {
    if (!fleet.kubeletNodes.has(name)) missing.push({ step: 'create-node', node: name, uid, at });
  }
  return [...left, ...missing];
}
