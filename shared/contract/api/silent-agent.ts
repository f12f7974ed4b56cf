import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { KubeletNode } from './kubelet-node.ts';

/** Agents refresh `status.heartbeat` this often when nothing else changes. */
export const HEARTBEAT_MS: Millis = 5 * 60_000;

/** A node whose agent has been silent for longer than this counts as having none: three missed heartbeats. */
export const AGENT_SILENT_MS: Millis = 3 * HEARTBEAT_MS;

/** Whether the agent of a node gave a sign of life lately. */
export function isAgentAlive(node: KubeletNode | undefined, now: Millis): boolean {
  const heartbeat = fromTimestamp(node?.status?.heartbeat);
  return heartbeat !== undefined && now - heartbeat <= AGENT_SILENT_MS;
}
