import { probabilityOfRank, median } from './rank-statistics.ts';
import type { MeasureChange } from './sample.ts';
import { allowedChange, type MeasureThreshold } from './thresholds.ts';

/** A change that one node in twenty has by chance is not the config's doing. */
const MOST_CHANCE = 0.05;

/** With fewer nodes that wait no rank is rare enough, and only a change twice as large counts. */
const FEWEST_WAITING = 1 / MOST_CHANCE - 1;

/** How a measure is judged. */
interface MeasureRule extends MeasureThreshold {
  /** What is below it is nothing where changes are ranked; more than 0, in the unit of the measure. */
  readonly nothing: number;
  readonly worse: 'up' | 'down';
}

/** How a measure of the canaries in the middle changed, with a clause about the nodes that wait. */
interface Regression extends MeasureChange {
  readonly meanwhile: string;
}

/**
 * A measure that got worse on the canaries by more than its threshold, beyond its change on the nodes that wait, while at most one
 * in twenty of those got as much worse; null for no regression.
 *
 * @param tried of the canaries; at least one
 * @param others of the nodes that wait
 */
export function regressionOf(
  tried: readonly MeasureChange[],
  others: readonly MeasureChange[],
  { worse, nothing, ...threshold }: MeasureRule,
): Regression | null {
  /** By how many times it got worse, so that a node with much of it does not rank first. */
  const times = ({ before, now }: MeasureChange): number => {
    const ratio = (now + nothing) / (before + nothing);
    return worse === 'up' ? ratio : 1 / ratio;
  };
  const isFew = others.length < FEWEST_WAITING;
  const counts = isFew ? twice(threshold, worse) : threshold;
  const before = median(tried.map((change) => change.before));
  if (worse === 'up') {
    const meanwhile = others.length === 0 ? 0 : Math.max(0, median(others.map(growth)));
    if (median(tried.map(growth)) - meanwhile <= allowedChange(counts, before)) return null;
  } else {
    // What falls to a half everywhere falls by more where there was more: of each canary, what it would have without the change.
    const meanwhile = others.length === 0 ? 1 : Math.max(1, median(others.map(times)));
    const expected = tried.map((change) => (change.before + nothing) / meanwhile - nothing);
    const fallen = median(tried.map(({ now }, index) => (expected[index] ?? now) - now));
    if (fallen <= allowedChange(counts, median(expected))) return null;
  }
  const [rank, ranks] = [median(tried.map(times)), others.map(times)];
  const asMuch = ranks.filter((other) => other >= rank).length;
  const isRare = isFew ? asMuch === 0 : probabilityOfRank(rank, ranks) <= MOST_CHANCE;
  if (!isRare) return null;
  const meanwhile =
    others.length === 0
      ? 'no other node was measured'
      : `of ${formatNodeCount(others.length)} that wait ${asMuch} got as much worse`;
  return { before, now: median(tried.map((change) => change.now)), meanwhile };
}

const growth = ({ before, now }: MeasureChange): number => now - before;

/** Nothing falls by more than all of it: twice a fall is one fall and then another. */
const twice = ({ least, percent }: MeasureThreshold, worse: MeasureRule['worse']): MeasureThreshold => ({
  least: 2 * least,
  percent: worse === 'up' ? 2 * percent : 100 - (100 - percent) ** 2 / 100,
});

export const formatNodeCount = (count: number): string => (count === 1 ? '1 node' : `${count} nodes`);
