import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type Choice, createPoolChooser } from './pool-selection/choose-pool.ts';
import type { Fleet, NodeView } from './fleet.ts';

/** A pool as far as nodes are chosen for it. */
export interface SelectingPool {
  readonly name: string;
  readonly spec: KubeletPoolSpec;
}

/** Which nodes are in which of these pools. */
export interface PoolMembers {
  readonly pools: readonly SelectingPool[];
  /** By node name. */
  readonly choices: ReadonlyMap<string, Choice>;
  /** By the name of the pool. */
  readonly members: ReadonlyMap<string, readonly NodeView[]>;
}

/** Every node of the fleet in its pool. */
export function membersOfPools(pools: readonly SelectingPool[], { nodes }: Pick<Fleet, 'nodes'>): PoolMembers {
  const choose = createPoolChooser(
    pools.map(({ name, spec: { priority, nodeSelector } }) => ({ name, priority, nodeSelector })),
  );
  const choices = new Map<string, Choice>();
  const members = new Map<string, NodeView[]>(pools.map(({ name }) => [name, []]));
  for (const node of nodes.values()) {
    const choice = choose(node);
    choices.set(node.name, choice);
    if (choice.choice === 'pool') members.get(choice.pool)?.push(node);
  }
  return { pools, choices, members };
}

/** Whether nodes are in these other pools as they are in those: they are the same ones, with the same selectors. */
export const isStillValid = ({ pools }: PoolMembers, others: readonly SelectingPool[]): boolean =>
  pools.length === others.length &&
  pools.every(({ name, spec }, index) => name === others[index]?.name && spec === others[index].spec);
