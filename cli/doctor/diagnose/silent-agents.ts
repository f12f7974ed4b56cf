import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { aboutAll, type Diagnosis } from '../diagnosis.ts';
import type { Facts } from '../facts.ts';
import { neverReason } from '#reconciler/policy/participation.ts';

/** A Node this young may have no agent yet. */
const YOUNG_MS: Millis = 5 * 60_000;

/** Nodes whose agent is silent: it never reported, or not for more than 15 minutes. */
export function silentAgents({ nodes, kubeletNodes, now }: Facts): readonly Diagnosis[] {
  if (!nodes.read || !kubeletNodes.read) return [];
  const heartbeats = new Map(
    kubeletNodes.value.map((node) => [node.metadata.name, fromTimestamp(node.status?.heartbeat)]),
  );
  const old = nodes.value.filter((node) => neverReason(node) === null && now - (node.createdAt ?? 0) > YOUNG_MS);
  const never = old.filter(({ name }) => heartbeats.get(name) === undefined).map(({ name }) => name);
  const silent = nodes.value
    .filter(({ name }) => now - (heartbeats.get(name) ?? now) > AGENT_SILENT_MS)
    .map(({ name }) => name);
  return [
    ...aboutAll('nodes-without-agent', 'node', never, 'no agent ever reported'),
    ...aboutAll('agents-silent', 'node', silent, 'the agent reported last more than 15 minutes ago'),
  ];
}
