/** Whether every point is tried, as by `npm run test:faults`; `npm test` tries a sample of them. */
export const EVERY_POINT = process.env['EVERY_POINT'] === '1';

/**
 * Where there are too many points for `npm test`: one in `oneIn`, spread evenly, and always one at least; which of them
 * depends on `from`. All of them where every point is tried.
 */
export const sampleOf = <T>(points: readonly T[], oneIn: number, from = 0): readonly T[] =>
  EVERY_POINT ? points : points.filter((_, index) => index % oneIn === from % Math.min(oneIn, points.length));

/** How often a law is tried that takes long: `runs` times where every point is, one in `oneIn` of that in `npm test`. */
export const runsOf = (runs: number, oneIn: number): number => (EVERY_POINT ? runs : Math.ceil(runs / oneIn));
