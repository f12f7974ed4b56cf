import type { RolloutSpec, RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { selectorMatches } from '../pool-selection/selector.ts';
import type { Member } from './membership.ts';

/**
 * The nodes that were there when a rollout began. It ends with them: nodes that join later follow when its waves are done, so
 * that a pool in which nodes come and go all the time comes to an end as well. Canaries by selector belong to it whenever they join:
 * nobody else could end their wave.
 */
export interface Cohort {
  readonly members: readonly Member[];
  /** Names of the same. */
  readonly names: ReadonlySet<string>;
  /** Creation of the newest node at its beginning, by the API server's clock, as all that it is compared with; 0 where there is none. */
  readonly newest: Millis;
}

/**
 * Who belongs to a rollout. Where nobody who was there at its beginning is left, it begins again with everybody.
 *
 * @param before the way of the same payload so far; undefined for a new one
 */
export function cohortOf(
  all: readonly Member[],
  before: Pick<RolloutStatus, 'newest'> | undefined,
  canary: RolloutSpec['canary'],
): Cohort {
  const written = fromTimestamp(before?.newest);
  // Timestamps have whole seconds.
  const known = written === undefined ? undefined : written + 999;
  const there = known === undefined ? [] : all.filter(({ node }) => node.createdAt <= known);
  if (known === undefined || there.length === 0) {
    return { ...named(all), newest: all.reduce((newest, { node }) => Math.max(newest, node.createdAt), 0) };
  }
  const selector = canary?.selector;
  if (selector === undefined) return { ...named(there), newest: known };
  const members = all.filter(({ node }) => node.createdAt <= known || selectorMatches(selector, node.labels));
  return { ...named(members), newest: known };
}

const named = (members: readonly Member[]): Pick<Cohort, 'members' | 'names'> => ({
  members,
  names: new Set(members.map(({ node }) => node.name)),
});
