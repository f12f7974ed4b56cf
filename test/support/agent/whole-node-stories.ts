import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { createWholeNode, type WholeNode } from './whole-node.ts';

/** Names of assigned, active and lastKnownGood. */
export const names = ({ assigned, active, lastKnownGood }: KubeletNodeStatus): readonly (string | undefined)[] =>
  [assigned, active, lastKnownGood].map((reference) => reference?.name);

export const isIdleOn = (node: WholeNode, name: string) => () =>
  node.status().phase === 'Idle' && node.status().active?.name === name && node.status().lastKnownGood?.name === name;

/** A node that has proven a config, and its name. */
export async function settledNode(options: Parameters<typeof createWholeNode>[0] = {}) {
  const node = createWholeNode(options);
  const good = node.assign({ maxPods: 100 });
  await node.until('the first config is good', isIdleOn(node, good));
  return { node, good };
}

export const hasFallenBack = (node: WholeNode, bad: string) => () =>
  node.status().phase === 'Idle' && node.status().error?.config === bad;
