import { CONFIG_HEALTH, type KubeletNode, PROVEN_CONFIG_FAILS } from '#shared/contract/api/kubelet-node.ts';
import { isAgentAlive } from '#shared/contract/api/silent-agent.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { runbookOf } from '../runbook.ts';

/**
 * What is wrong with a node besides its pool's rollout. broken: the kubelet runs with none of its configs. failing: it keeps ending with
 * what it had proven. drifted: files or the running config are not as assigned. unhealthy: the kubelet is down at rest.
 */
export type TroubleKind = 'broken' | 'failing' | 'drifted' | 'unhealthy';

export interface NodeTrouble {
  readonly kind: TroubleKind;
  /** A clause for people, in the agent's words. */
  readonly message: string;
  /** What to run on the node first, where its kubelet is to be looked at. */
  readonly look?: string;
  /** The page that says what to do. */
  readonly runbook: string;
}

/**
 * What a person has to look at on this node, whatever its pool does: a pool settles by proof, and a node that has proven its config is in it
 * nevertheless. Every screen says this and nothing of its own; null where nothing is wrong. Pure.
 */
export function nodeTrouble(node: KubeletNode | undefined): NodeTrouble | null {
  const trouble = troubleIn(node);
  if (trouble === null || trouble.kind === 'drifted') return trouble;
  return { ...trouble, look: lookAt(node?.status?.kubeletUnit) };
}

/** @param unit as the agent reports it; a kubelet without one has a log that nobody here knows */
const lookAt = (unit = 'kubelet'): string => `journalctl -u ${unit.replace(/\.service$/, '')} -n 200`;

function troubleIn(node: KubeletNode | undefined): NodeTrouble | null {
  const { phase, error, conditions = [] } = node?.status ?? {};
  const health = conditions.find(({ type }) => type === CONFIG_HEALTH);
  if (phase === 'Broken') return troubleOf('broken', error?.message ?? health?.message);
  if (error?.reason === PROVEN_CONFIG_FAILS) return troubleOf('failing', error.message);
  if (phase === 'Drifted') return troubleOf('drifted', health?.message ?? error?.message);
  if (phase !== 'Idle' || health?.status !== 'False') return null;
  return troubleOf('unhealthy', `${health.message} (since ${health.lastTransitionTime})`);
}

/** Why nobody knows how this node is now: its agent reported, and does no more. Null where it does, or never did. */
export function silence(node: KubeletNode | undefined, now: Millis): string | null {
  const heartbeat = node?.status?.heartbeat;
  if (heartbeat === undefined || isAgentAlive(node, now)) return null;
  return `no agent has reported from it since ${heartbeat}: is the DaemonSet running there?`;
}

const troubleOf = (kind: TroubleKind, said: string | undefined): NodeTrouble => ({
  kind,
  message: said === undefined || said === '' ? SAYS[kind] : said,
  runbook: runbookOf(RUNBOOK[kind]),
});

const RUNBOOK = {
  broken: 'NodeBroken',
  failing: 'NodeUnhealthy',
  drifted: 'NodeDrifted',
  unhealthy: 'NodeUnhealthy',
} as const;

/** What an agent that says no more than that means by it. */
const SAYS: Readonly<Record<TroubleKind, string>> = {
  broken: 'the kubelet runs with none of its configs',
  failing: 'the kubelet keeps ending with the config that it had proven',
  drifted: 'its files or what its kubelet runs are not as assigned',
  unhealthy: 'the kubelet is not healthy',
};
