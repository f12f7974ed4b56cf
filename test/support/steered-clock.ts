import type { Clock, Millis } from '#shared/runtime/clock.ts';

/** The machine's clock, but a test may let time pass that nobody has to wait for. */
export interface SteeredClock extends Clock {
  /** While true, the next sleeper that is due is woken a moment later, and its time has passed. */
  hurry: boolean;
  /** So much time has passed. */
  skip(ms: Millis): void;
}

const TICK_MS = 20;

export function steeredClock(): SteeredClock {
  let skipped = 0;
  const sleepers = new Set<{ readonly until: Millis }>();
  const monotonic = (): Millis => performance.now() + skipped;
  const clock: SteeredClock = {
    hurry: false,
    skip: (ms) => (skipped += ms),
    now: () => Date.now() + skipped,
    monotonic,
    sleep(ms, signal) {
      const sleeper = { until: monotonic() + ms };
      sleepers.add(sleeper);
      return new Promise((resolve) => {
        const end = (): void => {
          sleepers.delete(sleeper);
          clearInterval(timer);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const timer = setInterval(() => {
          const next = Math.min(...[...sleepers].map(({ until }) => until));
          // Never past another that is due before: it has to be the first to wake.
          if (clock.hurry && sleeper.until === next) skipped += Math.max(0, next - monotonic());
          if (monotonic() >= sleeper.until) end();
        }, TICK_MS);
        signal?.addEventListener('abort', end);
        if (signal?.aborted === true) end();
      });
    },
  };
  return clock;
}
