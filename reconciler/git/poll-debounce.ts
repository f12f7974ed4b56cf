import type { Clock, Millis } from '#shared/runtime/clock.ts';

/** Makes looks at the branch out of pokes: never two at a time, not more than one in a while, and one after the last poke. */
interface PollDebounce {
  /** Something may have changed. @returns when a look that began after this call is over; never rejects */
  trigger(): Promise<void>;
}

interface PollDebounceOptions {
  /** Looks at the branch. */
  readonly look: (signal: AbortSignal) => Promise<void>;
  /** Shortest time between the beginnings of two looks. */
  readonly gapMs: Millis;
  readonly clock: Clock;
  /** No look begins after it aborts. */
  readonly signal: AbortSignal;
  /** Hears what a look failed with. */
  readonly onError: (error: unknown) => void;
}

export function createPollDebounce({ look, gapMs, clock, signal, onError }: PollDebounceOptions): PollDebounce {
  let next: Promise<void> | null = null;
  let current: Promise<void> = Promise.resolve();
  let begunAt = clock.monotonic() - gapMs;

  async function lookOnce(before: Promise<void>): Promise<void> {
    await before;
    const waitMs = begunAt + gapMs - clock.monotonic();
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    // From here on a poke means another look: this one may have read the branch already.
    next = null;
    if (signal.aborted) return;
    begunAt = clock.monotonic();
    try {
      await look(signal);
    } catch (error) {
      onError(error);
    }
  }

  return {
    trigger() {
      if (next === null) {
        next = lookOnce(current);
        current = next;
      }
      return next;
    },
  };
}
