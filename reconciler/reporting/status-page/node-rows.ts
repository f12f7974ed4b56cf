import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { unseenIn } from '#shared/contract/api/running-config-seen.ts';
import { explainNodes, type NodeReason } from '../../policy/pool-status/explain-nodes.ts';
import type { PassResult } from '../pass-result.ts';
import type { NodeRow, NodeState, StateCount } from './model.ts';

/** Every node with its state and why; in the order of their names. Pure. */
export function nodeRows({ planned, fleet, at }: Pick<PassResult, 'planned' | 'fleet' | 'at'>): readonly NodeRow[] {
  return explainNodes(planned.nodes, fleet, at).map((reason) => {
    const kubeletNode = fleet.kubeletNodes.get(reason.node);
    const { status = {} } = kubeletNode ?? {};
    const { error = null } = status;
    const unseen = unseenIn(status);
    return {
      name: reason.node,
      pool: reason.pool === '-' ? '' : reason.pool,
      state: nodeState(reason, kubeletNode),
      now: reason.now,
      because: reason.because,
      progress: progressOf(status),
      error: error === null ? '' : `${error.reason}: ${error.message}`,
      unseen: unseen?.status !== 'False' ? '' : `${unseen.reason}: ${unseen.message}`,
      assigned: status.assigned?.name ?? 'local',
      active: status.active?.name ?? '-',
      kubelet: fleet.nodes.get(reason.node)?.kubeletVersion ?? '',
      heartbeat: status.heartbeat ?? '',
    };
  });
}

/** From the worst to the best: what a person looks for comes first. */
export const NODE_STATES: readonly NodeState[] = [
  'broken',
  'failed',
  'failing',
  'unhealthy',
  'no-agent',
  'drifted',
  'left-alone',
  'updating',
  'rebooting',
  'draining',
  'starting',
  'soaking',
  'waiting',
  'settled',
  'unselected',
];

/** How many of these nodes are in each state, the worst first; no state without nodes. */
export function countStates(nodes: readonly NodeRow[]): readonly StateCount[] {
  const byState = Map.groupBy(nodes, ({ state }) => state);
  return NODE_STATES.flatMap((state) => {
    const count = byState.get(state)?.length ?? 0;
    return count === 0 ? [] : [{ state, nodes: count }];
  });
}

function progressOf({ phase = 'Idle', trial = null }: KubeletNodeStatus): string {
  if (phase === 'Idle' || phase === 'Drifted') return '';
  const healthy = trial === null ? '' : `, healthy for ${trial.healthySeconds} of ${trial.durationSeconds} s`;
  const restarts = trial === null || trial.restarts === 0 ? '' : `, unplanned restarts: ${trial.restarts}`;
  return `${phase}${healthy}${restarts}`;
}

function nodeState({ standing, now }: NodeReason, node: KubeletNode | undefined): NodeState {
  switch (standing) {
    case 'failed':
    case 'broken':
    case 'failing':
    case 'unhealthy':
    case 'drifted':
    case 'no-agent':
      return standing;
    case 'updating':
      return node?.status?.trial?.awaitsReboot === undefined ? 'updating' : 'rebooting';
    case 'outdated':
    case 'awaits-turn':
      return now === 'change now' ? 'starting' : now === 'drain' ? 'draining' : 'waiting';
    case 'settled':
    case 'soaking':
      return standing;
    default:
      return now === 'nothing to do' ? 'unselected' : 'left-alone';
  }
}
