import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Fleet } from '../fleet.ts';
import { limitOf } from '../rollout/amount.ts';
import { isUnavailable } from '../rollout/membership.ts';
import { onTrialIn } from '../rollout/on-trial.ts';
import type { NodesPlan } from '../plan-nodes.ts';
import { type Generation, generationsIn } from './generations.ts';
import { type RemainingTime, remainingTimeOf } from './remaining-time.ts';

/** What a forecast has of a pool's rollout besides its waves. */
export interface RolloutForecast {
  readonly generations: readonly Generation[];
  /** null where no rollout is under way. */
  readonly remaining: RemainingTime | null;
}

/**
 * By pool, how its rollout went and how long it still takes. Pure.
 *
 * @param bounds over all pools, each of which holds; null for none
 */
export function forecastPools(
  { groups }: Pick<NodesPlan, 'groups'>,
  fleet: Fleet,
  bounds: readonly (Amount | null)[],
  now: Millis,
): ReadonlyMap<string, RolloutForecast> {
  const trials = onTrialIn(
    groups.map(({ group }) => group),
    fleet,
    now,
  );
  const unavailable = groups.map(({ group }) => group.members.filter(isUnavailable).length);
  const everybody = groups.reduce((sum, { group }) => sum + group.members.length, 0);
  const away = unavailable.reduce((sum, each) => sum + each, 0);
  const limits = bounds.flatMap((bound) => (bound === null ? [] : [limitOf(bound, everybody)]));
  const limit = Math.min(Number.POSITIVE_INFINITY, ...limits);
  return new Map(
    groups.flatMap((plan, index) => {
      const { pool } = plan.group;
      if (pool === null) return [];
      const elsewhere = limit - (away - (unavailable[index] ?? 0));
      const remaining = remainingTimeOf(plan, trials.get(plan.group), elsewhere, now);
      return [[pool.name, { generations: generationsIn(plan), remaining }] as const];
    }),
  );
}
