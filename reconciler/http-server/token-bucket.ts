import type { Clock, Millis } from '#shared/runtime/clock.ts';

interface TokenBucketOptions {
  /** Most that may be taken at once after a pause. */
  readonly burst: number;
  /** Time in which one comes back. */
  readonly everyMs: Millis;
}

/** So many at once, and one more every so often. */
export interface TokenBucket {
  /** Takes one where there is one, for who is turned away otherwise. @returns 0, else in how many milliseconds there will be one */
  take(): Millis;
  /** Takes one in any case, for who waits. @returns how long to wait until it is there */
  reserve(): Millis;
}

export function createTokenBucket(
  clock: Pick<Clock, 'monotonic'>,
  { burst, everyMs }: TokenBucketOptions,
): TokenBucket {
  let left = burst;
  let countedAt = clock.monotonic();

  /** In how many milliseconds there is one. */
  function untilNext(): Millis {
    const now = clock.monotonic();
    left = Math.min(burst, left + (now - countedAt) / everyMs);
    countedAt = now;
    return left >= 1 ? 0 : Math.ceil((1 - left) * everyMs);
  }

  return {
    take() {
      const waitMs = untilNext();
      if (waitMs === 0) left -= 1;
      return waitMs;
    },
    reserve() {
      const waitMs = untilNext();
      left -= 1;
      return waitMs;
    },
  };
}
