import { desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { NodeFirstSeen } from '#reconciler/policy/first-seen/node-first-seen.ts';
import { type FirstSeenTimes, firstSeenTimes } from '#reconciler/policy/first-seen/first-seen-times.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_B, fleetOf, idleNode, nodeView, NOW, validPool } from '../../../../support/fleet.ts';

export const MINUTE = 60_000;
/** A time as other machines write it. */
export const stamp = (at: number): string => new Date(at).toISOString().replace('.000', '');
/** The pool of the node. */
export const workers = validPool('workers', 110);
export const node = nodeView('a', 'workers');
/** What a node with nothing to say is seen as, by a process that has just started. */
export const PLAIN: NodeFirstSeen = {
  uid: node.uid,
  firstSeen: 0,
  readiness: { stamp: `true ${node.readySince}`, at: NOW },
};

export interface Seen {
  readonly view?: Parameters<typeof nodeView>[2];
  readonly status?: KubeletNodeStatus;
  readonly annotations?: Record<string, string>;
  readonly pool?: string | undefined;
  readonly last?: Partial<NodeFirstSeen>;
  readonly kubeletNodes?: readonly KubeletNode[];
  readonly pools?: readonly KubeletPool[];
  readonly git?: Parameters<typeof commit>[1][];
  /** How far the clock is ahead of the one that wrote down what is kept. */
  readonly ahead?: number;
}

/** A look at a cluster with this one node. */
export function lookAt(given: Seen): { readonly fleet: Fleet; readonly sights: FirstSeenTimes } {
  const { view, status = {}, annotations, last, pools = [], git = [workers], ahead } = given;
  const pool = 'pool' in given ? given.pool : 'workers';
  const idle = idleNode(node);
  const own = {
    metadata: { ...idle.metadata, ...(annotations && { annotations }) },
    spec: pool === undefined ? {} : { pool },
    status,
  };
  const fleet = fleetOf({ nodes: [nodeView('a', 'workers', view)], kubeletNodes: given.kubeletNodes ?? [own], pools });
  const before = last === undefined ? null : { nodes: new Map([['a', { ...PLAIN, ...last }]]), sources: new Map() };
  const desired = desiredState(commit(COMMIT_B, ...git), fleet, () => []);
  return { fleet, sights: firstSeenTimes(before, desired, fleet, NOW, ahead) };
}
export const seen = (given: Seen): NodeFirstSeen | undefined => lookAt(given).sights.nodes.get('a');

/** Another pool. */
export const gone = validPool('other', 1);
export const unselected = (by: 'labels' | 'commit', since = NOW): Partial<NodeFirstSeen> => ({
  unselected: { since, by },
});
/** An agent that was heard before. */
export const heard = { stamp: stamp(NOW - MINUTE), at: NOW - 7, own: new Date(NOW - 7).toISOString() };
/** What was promoted ten minutes ago, by the node's own clock and by that of a process that saw it happen. */
export const [soaked, atOnce] = [NOW - 9 * MINUTE + 999, NOW].map((at) => ({
  stamp: stamp(NOW - 10 * MINUTE),
  at,
  own: new Date(at).toISOString(),
}));
