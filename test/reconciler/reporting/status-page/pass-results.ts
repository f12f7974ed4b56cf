import type { Millis } from '#shared/runtime/clock.ts';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import type { PassResult } from '#reconciler/reporting/pass-result.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

/** Rounds as the reconciler makes them, for tests of what is told of them. */

export const SOURCE: SourceState = {
  ...NO_STATE,
  url: 'https://git.example.com/platform/config.git',
  branch: 'main',
  cluster: 'prod',
  commit: COMMIT_A,
  subject: 'Raise maxPods',
  author: 'Ada Admin',
  policy: JSON.stringify(policyOf(DEFAULT_CLUSTER)),
};

export interface PassResultParts {
  readonly fleet: Fleet;
  readonly inForce: CommitInForce | null;
  readonly source?: Partial<SourceState>;
  readonly at?: Millis;
}

export function passResultOf({ fleet, inForce, source = {}, at = NOW }: PassResultParts): PassResult {
  const desired = desiredState(inForce, fleet, () => []);
  const planned = plan(desired, fleet, { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 }, at);
  return {
    fleet,
    desired,
    planned,
    applied: { done: 0, left: 0 },
    source: { ...SOURCE, ...source },
    unreadable: [],
    tip: null,
    at,
  };
}

export const passResultIn = ({ fleet, inForce, now }: FleetSimulation, source: Partial<SourceState> = {}): PassResult =>
  passResultOf({ fleet, inForce, source, at: now });

/** A cluster in the middle of a rollout: ten workers of which some run the new config, three of another pool, one of none. */
export function rollingFleet(): FleetSimulation {
  const simulation = settledFleet(10);
  const rollout = {
    maxUnavailable: 4,
    probation: 'full',
    soak: '0s',
    onFailure: { threshold: 2, action: 'halt' },
  } as const;
  simulation.inForce = commit(COMMIT_B, validPool('workers', 150, { rollout }), validPool('gpu', 64));
  for (let round = 0; round < 3; round += 1) simulation.reconcile();
  const told = [...simulation.fleet.kubeletNodes.values()].filter(({ spec }) => spec?.commit === COMMIT_B);
  // Two are on trial, one of them proves itself; the others have yet to hear of it.
  for (const [index, node] of told.entries()) if (index < 2) simulation.agentStep(node.metadata.name);
  simulation.agentStep(told[0]?.metadata.name ?? '');
  simulation.reconcile();
  return simulation;
}

/** All nodes are up to date. */
export function settledFleet(workers: number): FleetSimulation {
  const simulation = new FleetSimulation();
  for (const [pool, count] of Object.entries({ workers, gpu: 3, stray: 1 })) {
    for (let number = 1; number <= count; number += 1) simulation.addNode(nodeView(`${pool}-${number}`, pool));
  }
  const rollout = {
    maxUnavailable: '100%',
    probation: 'full',
    soak: '0s',
    onFailure: { threshold: 2, action: 'halt' },
  } as const;
  simulation.inForce = commit(COMMIT_A, validPool('workers', 110, { rollout }), validPool('gpu', 64, { rollout }));
  simulation.rounds(5);
  simulation.reconcile();
  return simulation;
}

const LARGE_POOLS = 10;
const NAMES = Array.from({ length: LARGE_POOLS }, (_, pool) => `zone-${String.fromCodePoint(97 + pool)}-workers`);

/** So many nodes in ten pools that are all in the middle of a rollout: most are done, some are at it, a few failed, the rest wait. */
export function largePassResult(count: number): PassResult {
  const rollout = { maxUnavailable: '10%', soak: '0s', onFailure: { threshold: '50%', action: 'halt' } } as const;
  const pools = NAMES.map((name) => ({
    before: validPool(name, 110, { rollout }),
    after: validPool(name, 150, { rollout }),
  }));
  const nodes = [];
  const kubeletNodes = [];
  for (let index = 0; index < count; index += 1) {
    const pool = pools[index % LARGE_POOLS];
    if (pool === undefined) continue;
    const node = nodeView(`${pool.after.name}-${index}.compute.internal.example.com`, pool.after.name);
    nodes.push(node);
    const share = (index / count) * 100;
    if (share < 60) kubeletNodes.push(settledNode(node, pool.after));
    else if (share < 64) kubeletNodes.push(assignedNode(node, pool.after, { phase: 'Trial' }));
    else if (share < 65) kubeletNodes.push(failedNode(node, pool.after));
    else kubeletNodes.push(settledNode(node, pool.before));
  }
  const fleet = fleetOf({
    nodes,
    kubeletNodes,
    configSources: pools.flatMap(({ before, after }) => [configSource(before), configSource(after)]),
    pools: pools.map(({ after }) => poolInCluster(after)),
  });
  return passResultOf({ fleet, inForce: commit(COMMIT_B, ...pools.map(({ after }) => after)) });
}
