import type { Millis } from '#shared/runtime/clock.ts';

/** How often the agent puts files back within `REPAIR_SPAN_MS`. What changes them more often does so on purpose. */
const MOST_REPAIRS = 4;
const REPAIR_SPAN_MS: Millis = 60 * 60_000;

/** @param ages how long ago files were put back */
export const repairsWithinTheHour = (ages: readonly Millis[]): number =>
  ages.filter((ageMs) => ageMs < REPAIR_SPAN_MS).length;

/** Whether files that another writer changed may be put back once more. */
export const mayRepair = (ages: readonly Millis[]): boolean => repairsWithinTheHour(ages) < MOST_REPAIRS;

/** Adds a repair to those remembered, by monotonic times. Keeps as many as `mayRepair` counts. */
export const addRepair = (repairs: readonly Millis[], at: Millis): readonly Millis[] =>
  [...repairs, at].slice(-MOST_REPAIRS);
