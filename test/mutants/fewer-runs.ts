import type { Parameters } from 'fast-check';
import * as real from 'fast-check';
import { RUNS, SLOW } from './config.ts';
import { runningTest } from './collected.ts';

export * from 'fast-check';

/** The same runs for every mutant, so that none survives by luck on one day only, and no search for the smallest example. */
const FIXED = { seed: 1, endOnFailure: true };

function assert<Ts>(property: real.IRawProperty<Ts>, { numRuns = 100, ...rest }: Parameters<Ts> = {}): unknown {
  const most = SLOW.some((name) => runningTest().includes(name)) ? RUNS.slow : RUNS.usual;
  return real.assert(property, { ...rest, numRuns: Math.min(numRuns, most), ...FIXED });
}

// oxlint-disable-next-line import/no-default-export -- fast-check is imported by its default export
export default { ...real.default, assert };
