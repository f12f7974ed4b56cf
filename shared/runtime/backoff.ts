import type { Millis } from './clock.ts';

export interface BackoffOptions {
  readonly firstMs: Millis;
  readonly maxMs: Millis;
  /** 0 to 1: how much of the delay is left to chance, so that a fleet does not retry in step. */
  readonly jitter: number;
}

/**
 * Exponential delay before try number `faults` (1 for the first retry): doubles from `firstMs` up to `maxMs`.
 *
 * @param random a number in [0, 1), injected so that the delay is a pure function
 */
export function backoffDelay(faults: number, options: BackoffOptions, random: number): Millis {
  const whole = Math.min(options.maxMs, options.firstMs * 2 ** Math.max(0, Math.min(faults, 30) - 1));
  return Math.round(whole * (1 - options.jitter * random));
}
