import type { Forecast, FailsAfter } from '#reconciler/policy/forecast/forecast.ts';
import { INJECTED_FAULTS } from '../injected-faults.ts';
import { seededRandom } from '../seeded-random.ts';

/** How far a config with one planted fault would get. */
export interface FaultReach {
  /** A clause that goes on after "a config that". */
  readonly fault: string;
  /** Which nodes it fails on is left to chance: the rest holds in 19 of 20 cases. */
  readonly byChance?: true;
  /** How many nodes get it assigned at most. */
  readonly seen: number;
  /** The bounds stop it; false where all nodes get it. */
  readonly isStopped: boolean;
}

/** Without the worst two of them, 19 of 20 are left. */
const [CASES, WORST] = [40, 2];

/**
 * What the bounds of a rollout are worth, fault by fault. Each of these rollouts is over with its first failures.
 *
 * @param names of the nodes that it changes
 */
export function blastRadiusOf(
  names: readonly string[],
  forecastWith: (fails: FailsAfter) => Forecast,
): readonly FaultReach[] {
  return INJECTED_FAULTS.map(({ fault, failsAfter, ...chance }) => {
    const [count, leftOut] = chance.byChance === true ? [CASES, WORST] : [1, 0];
    const cases = Array.from({ length: count }, (_, seed) => {
      const random = seededRandom(seed);
      const failing = new Map(names.map((name) => [name, failsAfter(random())]));
      const { turns, isStopped } = forecastWith((name) => failing.get(name) ?? null);
      return { seen: turns.reduce((sum, turn) => sum + turn.length, 0), isStopped };
    });
    const [seen = 0] = cases
      .map((each) => each.seen)
      .toSorted((a, b) => b - a)
      .slice(leftOut);
    return { fault, ...chance, seen, isStopped: cases.filter(({ isStopped }) => !isStopped).length <= leftOut };
  });
}
