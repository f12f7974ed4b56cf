import type { Millis } from '#shared/runtime/clock.ts';

/** A restart of a kubelet and what the agent does around it; measured, see docs/benchmarks. */
export const RESTART_MS: Millis = 10_000;

/** How much less and how much more restarts take on other machines: what the quickest and the slowest time are of. */
export const RESTARTS = { quick: 0.5, slow: 3 } as const;

/** A time with its spread, all in milliseconds. */
export interface Spread {
  readonly expectedMs: Millis;
  /** With restarts that take half as long. */
  readonly quickMs: Millis;
  /** With restarts that take three times as long. */
  readonly slowMs: Millis;
}

/**
 * The same question asked with the usual, quick and slow restarts.
 *
 * @param took how long it takes with such restarts; null for one that does not end
 */
export function spreadOf(took: (restartMs: Millis) => Millis | null, restartMs: Millis = RESTART_MS): Spread | null {
  const [expectedMs, quickMs, slowMs] = [
    took(restartMs),
    took(restartMs * RESTARTS.quick),
    took(restartMs * RESTARTS.slow),
  ];
  return expectedMs === null || quickMs === null || slowMs === null ? null : { expectedMs, quickMs, slowMs };
}
