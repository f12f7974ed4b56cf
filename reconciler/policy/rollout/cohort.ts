import type { RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Member } from './membership.ts';

/**
 * The nodes that were there when a rollout began. It ends with them: nodes that join later follow when its waves are done, so
 * that a pool in which nodes come and go all the time comes to an end as well.
 */
export interface Cohort {
  readonly members: readonly Member[];
  /** Creation of the newest of them, by the API server's clock, as all that it is compared with; 0 where there is none. */
  readonly newest: Millis;
}

/**
 * Who belongs to a rollout. Where nobody who was there at its beginning is left, it begins anew with everybody.
 *
 * @param before the way of the same payload so far; undefined for a new one
 */
export function cohortOf(members: readonly Member[], before: Pick<RolloutStatus, 'newest'> | undefined): Cohort {
  const written = fromTimestamp(before?.newest);
  // Timestamps have whole seconds.
  const known = written === undefined ? undefined : written + 999;
  const there = known === undefined ? [] : members.filter(({ node }) => node.createdAt <= known);
  if (known !== undefined && there.length > 0) return { members: there, newest: known };
  return { members, newest: members.reduce((newest, { node }) => Math.max(newest, node.createdAt), 0) };
}
