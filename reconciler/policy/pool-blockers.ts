import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Desired } from './desired.ts';
import type { Fleet } from './fleet.ts';

/** What came of asking one pool's blockers. */
export interface BlockersAnswer {
  /** Nothing holds the whole pool. */
  readonly quiet: boolean;
  /** Why it is not, or that it is. */
  readonly because: string;
  /** By name, the nodes that have a pod which must not run while they are changed, and which pod; absent where none has. */
  readonly busy?: ReadonlyMap<string, string>;
}

export const NOT_BLOCKED: BlockersAnswer = { quiet: true, because: 'everything that has to be quiet is' };

export const blocked = (because: string): BlockersAnswer => ({ quiet: false, because });

export interface BlockersQuery {
  readonly name: string;
  readonly spec: BlockersSpec;
}

/**
 * The pools whose blockers matter now: those that name some and have nodes to change. A pool that has come to rest is not
 * asked for, so that a fleet at rest sends no queries; when a node joins it or asks for a restart, its status says so, and it is
 * asked for next.
 */
export function blockersQueries(desired: Desired, fleet: Fleet): readonly BlockersQuery[] {
  return [...desired.pools.values()].flatMap(({ name, spec: { blockers }, config }) => {
    const status = fleet.pools.get(name)?.status;
    const atRest = (status?.phase === 'Settled' || status?.phase === 'Empty') && status.holds === undefined;
    const same = status?.sha256 === config?.sha256;
    return blockers === undefined || (atRest && same) ? [] : [{ name, spec: blockers }];
  });
}
