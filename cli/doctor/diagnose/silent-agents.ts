import { silence } from '#reconciler/policy/pool-status/node-trouble.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { aboutAll, type Diagnosis } from '../diagnosis.ts';
import type { Facts } from '../facts.ts';
import { neverReason } from '#reconciler/policy/participation.ts';

/** A Node this young may have no agent yet. */
const YOUNG_MS: Millis = 5 * 60_000;

/** Nodes whose agent is silent: it never reported, or reports no more. */
export function silentAgents({ nodes, kubeletNodes, now }: Facts): readonly Diagnosis[] {
  if (!nodes.read || !kubeletNodes.read) return [];
  const heartbeats = new Map(
    kubeletNodes.value.map((node) => [node.metadata.name, fromTimestamp(node.status?.heartbeat)]),
  );
  const old = nodes.value.filter((node) => neverReason(node) === null && now - (node.createdAt ?? 0) > YOUNG_MS);
  const never = old.filter(({ name }) => heartbeats.get(name) === undefined).map(({ name }) => name);
  const known = new Set(nodes.value.map(({ name }) => name));
  const silent = kubeletNodes.value.flatMap((node) => {
    const why = known.has(node.metadata.name) ? silence(node, now) : null;
    return why === null ? [] : [{ name: node.metadata.name, why }];
  });
  return [
    ...aboutAll('nodes-without-agent', 'node', never, 'no agent ever reported'),
    ...aboutAll(
      'agents-silent',
      'node',
      silent.map(({ name }) => name),
      silent[0]?.why ?? '',
    ),
  ];
}
