import type { Clock, Millis } from '#shared/runtime/clock.ts';

/** The machine's clock, but a test may let time pass that nobody has to wait for. */
export interface SteeredClock extends Clock {
  /** While true, whoever sleeps is woken a moment later, and his time has passed. */
  hurry: boolean;
  /** So much time has passed. */
  skip(ms: Millis): void;
}

const TICK_MS = 20;

export function steeredClock(): SteeredClock {
  let skipped = 0;
  const monotonic = (): Millis => performance.now() + skipped;
  const clock: SteeredClock = {
    hurry: false,
    skip: (ms) => (skipped += ms),
    now: () => Date.now() + skipped,
    monotonic,
    sleep(ms, signal) {
      const until = monotonic() + ms;
      return new Promise((resolve) => {
        const end = (): void => {
          clearInterval(timer);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const timer = setInterval(() => {
          if (clock.hurry) skipped += Math.max(0, until - monotonic());
          if (monotonic() >= until) end();
        }, TICK_MS);
        signal?.addEventListener('abort', end);
        if (signal?.aborted === true) end();
      });
    },
  };
  return clock;
}
