import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  configSource,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../../support/fleet.ts';

export const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
/** The nodes of the pool. */
export const [a, b, c] = ['a', 'b', 'c'].map((name) => nodeView(name, 'workers')) as [
  ReturnType<typeof nodeView>,
  ReturnType<typeof nodeView>,
  ReturnType<typeof nodeView>,
];
/** What the nodes run, and what they are to run. */
export const old = validPool('workers', 110);
export const next = validPool('workers', 120);

/** The three nodes as they report. @param pool as the cluster has it */
export function fleetWith(kubeletNodes: readonly KubeletNode[], pool = poolInCluster(old)): Fleet {
  return fleetOf({
    nodes: [a, b, c],
    kubeletNodes,
    configSources: [configSource(old), configSource(next)],
    pools: [pool],
  });
}

/** The status of the pool as it is to be. */
export function statusOf(inForce: CommitInForce | null, fleet: Fleet): KubeletPoolStatus | undefined {
  return plan(
    desiredState(inForce, fleet, () => []),
    fleet,
    SETTINGS,
    NOW,
  ).pools.get('workers');
}

/** All three run `old` and have proven it. */
export const settled = [a, b, c].map((node) => settledNode(node, old));
