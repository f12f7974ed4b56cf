import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { commit, COMMIT_A, nodeView, poolSpec } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

/** A selector of the nodes that the pool `workers` has. */
export const ON_WORKERS = { nodeSelector: { matchLabels: { pool: 'workers' } } };
/** The usual rollout with other parts. */
export const rollout = (more: Partial<RolloutSpec>) => ({ rollout: { ...poolSpec().rollout, ...more } });

/** Nodes by their pool's label, which run what these pools want. */
export function settledFleet(nodes: Readonly<Record<string, string>>, ...pools: readonly ValidPool[]): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const [name, pool] of Object.entries(nodes)) fleet.addNode(nodeView(name, pool));
  fleet.inForce = commit(COMMIT_A, ...pools);
  fleet.rounds(6 * Object.keys(nodes).length);
  return fleet;
}

/** What each node was told, by name; `local` for its own config. */
export const told = (fleet: FleetSimulation): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...fleet.fleet.kubeletNodes].map(([name, { spec }]) => [name, spec?.configSource?.name ?? 'local']),
  );
export const statusOf = (fleet: FleetSimulation, pool = 'workers') => fleet.fleet.pools.get(pool)?.status;
/** Why nodes of a pool wait, as its status says it. */
export const holdsOf = (fleet: FleetSimulation, pool = 'workers') =>
  statusOf(fleet, pool)?.holds?.map(({ reason, message }) => `${reason}: ${message}`) ?? [];
/** The steps of one kind. */
export const about = (steps: readonly Step[], what: Step['step']): readonly Step[] =>
  steps.filter(({ step }) => step === what);
