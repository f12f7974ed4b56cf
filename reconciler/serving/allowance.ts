import type { Clock, Millis } from '#shared/runtime/clock.ts';

/** A bucket of tokens: so many at once, and one more every so often. */
export interface Allowance {
  /** Takes one. @returns 0 where there was one, else in how many milliseconds there will be */
  take(): Millis;
}

export interface AllowanceOptions {
  readonly burst: number;
  /** Time in which one comes back. */
  readonly everyMs: Millis;
}

export function createAllowance(clock: Pick<Clock, 'monotonic'>, { burst, everyMs }: AllowanceOptions): Allowance {
  let left = burst;
  let countedAt = clock.monotonic();
  return {
    take() {
      const now = clock.monotonic();
      left = Math.min(burst, left + (now - countedAt) / everyMs);
      countedAt = now;
      if (left < 1) return Math.ceil((1 - left) * everyMs);
      left -= 1;
      return 0;
    },
  };
}
