import type { Clock, Millis } from '#shared/runtime/clock.ts';

export interface BucketOptions {
  /** Most that may be taken at once after a pause. */
  readonly burst: number;
  readonly perSecond: number;
}

/** Says how long to wait before the next thing may be done, and counts it as done. */
export function createTokenBucket({ burst, perSecond }: BucketOptions, clock: Clock): () => Millis {
  let tokens = burst;
  let at = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - at) / 1000) * perSecond) - 1;
    at = now;
    return tokens >= 0 ? 0 : Math.ceil((-tokens / perSecond) * 1000);
  };
}
