import type { Forecast, FailsAfter } from '#reconciler/policy/forecast/forecast.ts';
import { ONE_IN, PLANTED_FAULTS } from '../planted-faults.ts';

/** How far a config with one planted fault would get. */
export interface FaultReach {
  /** A clause that goes on after "a config that". */
  readonly fault: string;
  /** How many nodes are told it at most, wherever the nodes are that it fails on. */
  readonly seen: number;
  /** The bounds stop it; false where all nodes get it. */
  readonly isStopped: boolean;
}

/**
 * What the bounds of a rollout are worth, fault by fault. Of a fault on one node in so many all places are looked at: each of these
 * rollouts is over with its first failures.
 *
 * @param names of the nodes in the order in which they begin
 */
export function worthOf(
  names: readonly string[],
  forecastWith: (fails: FailsAfter) => Forecast,
): readonly FaultReach[] {
  const places = new Map(names.map((name, place) => [name, place]));
  return PLANTED_FAULTS.map(({ fault, failsAfter, byChance }) => {
    const chances = byChance === true ? Array.from({ length: Math.min(ONE_IN, names.length) }, (_, bad) => bad) : [0];
    const runs = chances.map((bad) => forecastWith((name) => failsAfter(places.get(name) ?? 0, bad / ONE_IN)));
    const seen = runs.map(({ turns }) => turns.reduce((sum, turn) => sum + turn.length, 0));
    return { fault, seen: Math.max(...seen), isStopped: runs.every((run) => run.isStopped) };
  });
}
