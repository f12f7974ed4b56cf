import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';

export interface PollingOptions {
  /** From the end of one look to the beginning of the next, give or take a twentieth. */
  readonly everyMs: Millis;
  /** Looks at the branch. The next look waits until this one has ended. */
  readonly look: () => Promise<void> | void;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Polling {
  /** No look begins after this. */
  stop(): void;
}

/** How far a pause may be off, as a part of it: clusters that started together do not ask their forge in step for long. */
const JITTER = 0.05;

/**
 * Looks at once, and then again after each pause, never twice at a time. A look that fails counts like any other: the next
 * one brings what it would have brought.
 */
export function startPolling({ everyMs, look, random, clock, log }: PollingOptions): Polling {
  const stopped = new AbortController();

  async function poll(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        await look();
      } catch (error) {
        log.error({ err: error }, 'poll ended with an error');
      }
      await clock.sleep(Math.round(everyMs * (1 + JITTER * (2 * random() - 1))), stopped.signal);
    }
  }

  void poll();
  return { stop: () => stopped.abort() };
}
