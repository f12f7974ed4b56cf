import type { Desired } from '../desired.ts';
import type { Fleet } from '../fleet.ts';
import type { AskedPool } from '../../cluster/blockers/blockers.ts';

/**
 * The pools whose blockers matter now: those that name some and have nodes to change. A pool that has come to rest is not
 * asked for, so that a fleet at rest sends no queries; when a node joins it, its status says so, and it is asked for next.
 */
export function poolsToAsk(desired: Desired, fleet: Fleet): readonly AskedPool[] {
  return [...desired.pools.values()].flatMap(({ name, spec: { blockers }, config }) => {
    const status = fleet.pools.get(name)?.status;
    const atRest = status?.phase === 'Settled' || status?.phase === 'Empty';
    const same = status?.sha256 === config?.sha256;
    return blockers === undefined || (atRest && same) ? [] : [{ name, spec: blockers }];
  });
}
