import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import type { UnreadableObject, NodeView } from '../../policy/fleet.ts';
import { CANNOT_BE_READ, describeUnreadable } from '../pool-status/unreadable-pools.ts';

/** What a Node is to say of its kubelet's config, for `kubectl describe node`. */
export interface ConfigHealth {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const LONGEST_MESSAGE = 400;

/**
 * The agent's own word, or that there is none any more. Pure.
 *
 * @returns null where there is nothing to say: no agent ever reported from the node
 */
export function configHealthOf(node: KubeletNode | undefined, present: NodeView, now: Millis): ConfigHealth | null {
  const condition = node?.status?.conditions?.find(({ type }) => type === CONFIG_HEALTH);
  const heartbeat = fromTimestamp(node?.status?.heartbeat);
  if (condition !== undefined && heartbeat !== undefined && now - heartbeat <= AGENT_SILENT_MS) {
    return { status: condition.status, reason: condition.reason, message: shown(condition.message) };
  }
  if (condition === undefined && present.configHealth === undefined) return null;
  const since = node?.status?.heartbeat;
  const message = since === undefined ? 'no agent reports from this node' : `the agent has been silent since ${since}`;
  return { status: 'Unknown', reason: 'AgentSilent', message };
}

/** The condition `Unknown`, for a node or a report of its agent that is unreadable. Pure. */
export const unreadableHealth = (left: UnreadableObject): ConfigHealth => ({
  status: 'Unknown',
  reason: CANNOT_BE_READ,
  message: shown(describeUnreadable(left)),
});

/** Whether the Node has it already. Times are not compared. */
export function isSameHealth(wanted: ConfigHealth, present: NodeView['configHealth']): boolean {
  return (
    present !== undefined &&
    wanted.status === present.status &&
    wanted.reason === present.reason &&
    wanted.message === present.message
  );
}

/** The patch that writes the condition and leaves those of others alone (merged by type). */
export function conditionPatch(
  wanted: ConfigHealth,
  present: NodeView['configHealth'],
  at: string,
): { status: object } {
  const lastTransitionTime = present?.status === wanted.status ? present.lastTransitionTime : at;
  return { status: { conditions: [{ type: CONFIG_HEALTH, ...wanted, lastHeartbeatTime: at, lastTransitionTime }] } };
}

const shown = (message: string): string => sanitizeText(message).slice(0, LONGEST_MESSAGE);
