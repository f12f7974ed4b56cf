import {
  CONFIG_HEALTH,
  type ConfigReference,
  type KubeletNode,
  UNKNOWN_CONFIG,
} from '#shared/contract/api/kubelet-node.ts';
import { unseenIn } from '#shared/contract/api/running-config-seen.ts';
import { isAgentAlive } from '#shared/contract/api/silent-agent.ts';
import { assignmentOf, failedAt } from '#reconciler/policy/rollout/node-progress.ts';
import { nodeTrouble } from '#reconciler/policy/pool-status/node-trouble.ts';
import { runbookOf } from '#reconciler/policy/runbook.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Paint, Tone } from '../paint.ts';
import { type Cell, renderFitting } from '../text-table.ts';

export function renderNodes(
  nodes: readonly KubeletNode[],
  paint: Paint,
  now: Millis,
  columns: number,
): readonly string[] {
  if (nodes.length === 0) return [];
  const heading = ['NODE', 'POOL', 'PHASE', 'ASSIGNED', 'ACTIVE', 'LAST KNOWN GOOD', 'KUBELET', 'SEEN'];
  const rows = nodes.map((node) => nodeRow(node, paint, now));
  const table = renderFitting([strong(heading, paint), ...rows], columns, ['LAST KNOWN GOOD', 'KUBELET', 'ASSIGNED']);
  return table.flatMap((line, index) => [
    line,
    ...nodeTroubles(nodes[index - 1]).map((trouble) => paint('bad', `  ${trouble}`)),
  ]);
}

/** What a person has to know of a node, besides its phase. */
export function nodeTroubles(node: KubeletNode | undefined): readonly string[] {
  const { active, error, conditions = [], awaitsTurn, refusedBase } = node?.status ?? {};
  const asks = awaitsTurn === undefined || awaitsTurn === null ? undefined : awaitsTurn;
  const turn = node?.spec?.turn?.seen === asks?.seen ? 'restarts in its turn' : 'asks for its turn to restart';
  const unseen = unseenIn(node?.status ?? {});
  const tookBack = failedAt(node, assignmentOf(node)) !== undefined;
  const trouble = nodeTrouble(node);
  const runbook = trouble?.runbook ?? (tookBack ? runbookOf('NodeConfigError') : undefined);
  const isUnknown = active?.name === UNKNOWN_CONFIG && (error === undefined || error === null);
  const told = conditions.find(({ type }) => type === CONFIG_HEALTH);
  const said = trouble?.message ?? (told?.status === 'False' || isUnknown ? told?.message : undefined);
  return [
    ...(error === undefined || error === null ? [] : [`${error.reason}: ${error.message}`]),
    ...(said === undefined || said === error?.message || said === asks?.message ? [] : [said]),
    ...(asks === undefined ? [] : [`${turn}: ${asks.message}`]),
    ...(unseen === undefined ? [] : [`what its kubelet runs cannot be seen: ${unseen.message}`]),
    ...(refusedBase === undefined || refusedBase === null
      ? []
      : [`keeps its own config file of before: ${refusedBase.message}`]),
    ...(trouble?.look === undefined ? [] : [`on the node: ${trouble.look}`]),
    ...(runbook === undefined ? [] : [`runbook: ${runbook}`]),
  ];
}

export const strong = (heading: readonly string[], paint: Paint): readonly Cell[] =>
  heading.map((text) => ({ text, shown: paint('strong', text) }));

function nodeRow(node: KubeletNode, paint: Paint, now: Millis): readonly Cell[] {
  const { spec = {}, status = {} } = node;
  const silent = !isAgentAlive(node, now);
  const phase = silent ? 'NoAgent' : (status.phase ?? 'Unknown');
  const tone: Tone = phase === 'Idle' ? 'good' : phase === 'NoAgent' || phase === 'Broken' ? 'bad' : 'busy';
  const name = (reference: ConfigReference | undefined): string => reference?.name ?? '-';
  return [
    node.metadata.name,
    spec.pool ?? '-',
    { text: phase, shown: paint(tone, phase) },
    name(status.assigned),
    name(status.active),
    name(status.lastKnownGood),
    status.kubeletVersion ?? '-',
    status.heartbeat === undefined ? 'never' : age(status.heartbeat, now),
  ];
}

/** `12s`, `5m`, `3h`, `8d`: as kubectl shows ages. */
export function age(timestamp: string, now: Millis): string {
  const at = fromTimestamp(timestamp);
  if (at === undefined) return '?';
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
