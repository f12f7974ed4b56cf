import type { KubeletNode, TurnRequest } from '#shared/contract/api/kubelet-node.ts';
import type { Observation, SeenOrder } from '../observation.ts';
import { activeOf, nameOf, sameConfig, type State, type Target } from '../state.ts';

/** The order that a KubeletNode carries; undefined where there is none, or none that can be told from others. */
export function orderIn(node: KubeletNode | null): SeenOrder | undefined {
  const uid = node?.metadata.uid;
  const number = node?.spec?.order;
  return uid === undefined ? undefined : { uid, number: Number.isSafeInteger(number) ? (number ?? 0) : 0 };
}

/**
 * A KubeletNode with another uid was made again, or belongs to another cluster. The agent does not follow what it wants at first, whatever
 * its number, but the next order.
 */
export function withKubeletNode(state: State, { order }: Observation): State {
  const { obeyed } = state;
  if (obeyed === undefined || order === undefined || obeyed.uid === order.uid) return state;
  return { ...state, obeyed: { uid: order.uid, order: Math.max(obeyed.order, order.number) } };
}

/** The state with the number of the order that it is the answer to: what is wanted is taken up, or refused. */
export function withObeyedOrder(state: State, seen: Observation): State {
  const [wanted, { order }] = [wantedBy(seen), seen];
  const isTakenUp = wanted !== undefined && sameConfig(wanted, state.assigned);
  if (!isTakenUp || order === undefined || order.number <= (state.obeyed?.order ?? 0)) return state;
  return { ...state, obeyed: { uid: order.uid, order: order.number } };
}

/**
 * Whether the assignment wants something other than the last order that was followed, under a number that is not higher, as after a
 * restore of etcd: nobody has decided that now. Without numbers, the agent follows every assignment.
 */
export function isOldOrder(state: State, seen: Observation): boolean {
  const wanted = wantedBy(seen);
  const { obeyed, assigned } = state;
  if (obeyed === undefined || seen.order === undefined || wanted === undefined) return false;
  const isObeyed = sameConfig(wanted, assigned) && (wanted !== null || activeOf(state) === null);
  return seen.order.number <= obeyed.order && !isObeyed;
}

/** The turn that a node at rest asks for, to do what an old order wants; null where it does already, or there is none. */
export function turnForOldOrder(state: State, seen: Observation): TurnRequest | null {
  const wanted = wantedBy(seen);
  const isAtRest = state.doing.phase === 'idle';
  if (wanted === undefined || !isAtRest || sameConfig(wanted, activeOf(state)) || !isOldOrder(state, seen)) return null;
  const runs = nameOf(activeOf(state));
  return {
    reason: 'StateLost',
    seen: seen.fingerprint,
    ...(wanted === null ? {} : { config: wanted.source.sha256 }),
    message: `the cluster wants ${nameOf(wanted)} under an order that is not newer than the last one that this node followed, as after a restore of etcd: ${runs} runs on until the node has its turn`,
  };
}

/** undefined where nothing is wanted that could be followed. */
function wantedBy({ intent }: Observation): Target | undefined {
  if (intent.intent === 'local') return null;
  return intent.intent === 'config' ? intent.config : undefined;
}
