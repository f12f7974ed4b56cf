import type { Desired } from '#reconciler/policy/desired.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { KubeletPool, KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';

export type Planner = typeof plan;

export const without = <T extends object, K extends keyof T>(from: T, ...keys: readonly K[]): Omit<T, K> =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key as K))) as unknown as Omit<T, K>;

/** The real planner, which sees pools with another way to roll out than they have. */
export const rollingOutAs =
  (change: (rollout: RolloutSpec) => RolloutSpec): Planner =>
  (desired, ...more) =>
    plan(withRollout(desired, change), ...more);

export function withRollout(desired: Desired, change: (rollout: RolloutSpec) => RolloutSpec): Desired {
  const changed = (spec: KubeletPoolSpec): KubeletPoolSpec => ({ ...spec, rollout: change(spec.rollout) });
  return {
    ...desired,
    pools: new Map([...desired.pools].map(([name, pool]) => [name, { ...pool, spec: changed(pool.spec) }])),
  };
}

/** The real planner, which sees the cluster otherwise than it is. */
export const seeing =
  (change: (fleet: Fleet) => Fleet): Planner =>
  (desired, fleet, ...more) =>
    plan(desired, change(fleet), ...more);

export const withNodes =
  (change: (node: NodeView) => NodeView) =>
  (fleet: Fleet): Fleet => ({
    ...fleet,
    nodes: new Map([...fleet.nodes].map(([name, node]) => [name, change(node)])),
  });

export const withPools =
  (change: (pool: KubeletPool) => KubeletPool) =>
  (fleet: Fleet): Fleet => ({
    ...fleet,
    pools: new Map([...fleet.pools].map(([name, pool]) => [name, change(pool)])),
  });
