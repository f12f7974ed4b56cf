import type { Clock, Millis } from '#shared/runtime/clock.ts';

/** A clock that stands still until the test moves it. */
export interface ManualClock extends Clock {
  /** Moves time on; whoever is due wakes, in order, each at its own moment. */
  advance(ms: Millis): Promise<void>;
  /** Moves time on for whoever only reads it: nobody wakes before the next `advance`. */
  skip(ms: Millis): void;
  /** How many milliseconds the sleepers still have, the next first. */
  sleeping(): readonly Millis[];
}

export function createManualClock(startMs: Millis = Date.UTC(2026, 0, 1)): ManualClock {
  let elapsed = 0;
  const sleepers = new Set<{ readonly dueMs: Millis; readonly wake: () => void }>();
  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = { dueMs: elapsed + Math.max(0, ms), wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake);
      });
    },
    async advance(ms) {
      const until = elapsed + ms;
      for (;;) {
        await settle();
        const next = [...sleepers].toSorted((one, other) => one.dueMs - other.dueMs)[0];
        if (next === undefined || next.dueMs > until) break;
        elapsed = Math.max(elapsed, next.dueMs);
        next.wake();
      }
      elapsed = until;
      await settle();
    },
    skip: (ms) => void (elapsed += ms),
    sleeping: () => [...sleepers].map(({ dueMs }) => dueMs - elapsed).toSorted((one, other) => one - other),
  };
}

/** Lets everything run that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
