import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitError } from './errors.ts';
import type { GitLimits } from './limits.ts';

/** How long one request is waited for. */
export interface Patience {
  /** Aborts, with the GitError that says why, when patience is lost or the caller gives up. */
  readonly signal: AbortSignal;
  /** The connection stands. */
  connected(): void;
  /** Something was heard. */
  heard(): void;
  /** The request is over. */
  end(): void;
}

export interface PatienceOptions {
  readonly clock: Clock;
  readonly limits: GitLimits;
  /** Monotonic time at which the whole call has to be over. */
  readonly deadline: Millis;
  /** What is waited for, for messages: `https://host/path.git`. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/** Begins to wait. Whoever calls it calls `end`, always: it takes timers and listeners away. */
export function startPatience({ clock, limits, deadline, what, signal }: PatienceOptions): Patience {
  const lost = new AbortController();
  const over = new AbortController();
  let pause = new AbortController();
  const startedAt = clock.monotonic();
  let heardAt: Millis | null = null;

  const next = (): { readonly at: Millis; readonly why: string } => {
    const whole = { at: deadline, why: `the whole call took longer than ${seconds(limits.totalMs)}` };
    const step =
      heardAt === null
        ? { at: startedAt + limits.connectMs, why: `no connection within ${seconds(limits.connectMs)}` }
        : { at: heardAt + limits.idleMs, why: `silence for ${seconds(limits.idleMs)}` };
    return step.at < whole.at ? step : whole;
  };

  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      const { at, why } = next();
      const left = at - clock.monotonic();
      if (left <= 0) return lost.abort(new GitError('GIT_TIMEOUT', `gave up on ${what}: ${why}`));
      pause = new AbortController();
      await clock.sleep(left, pause.signal);
    }
  }

  const giveUp = (): void => lost.abort(abortedError(what, signal));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  void watch();
  return {
    signal: lost.signal,
    connected() {
      heardAt = clock.monotonic();
      // What is waited for is another thing from here on.
      pause.abort();
    },
    heard() {
      heardAt = clock.monotonic();
    },
    end() {
      over.abort();
      pause.abort();
      signal.removeEventListener('abort', giveUp);
    },
  };
}

/** The error for a call that its caller gave up. */
export function abortedError(what: string, signal: AbortSignal): GitError {
  return new GitError('GIT_ABORTED', `reading or writing ${what} was broken off`, { cause: signal.reason });
}

const seconds = (ms: Millis): string => `${ms / 1000} s`;
