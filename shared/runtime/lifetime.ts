import type { Clock, Millis } from './clock.ts';

/**
 * How long something may go on: until its parent signal aborts, its time is up, or it is cut for another reason. The
 * signal's `reason` says which. Call `end` in any case: it removes timers and listeners.
 */
export interface Lifetime {
  readonly signal: AbortSignal;
  /** Aborts the signal for this reason, unless it is over already. */
  cut(reason: unknown): void;
  /** Cuts in `ms` milliseconds, at once for 0 or less, unless disarmed before by calling what is returned. */
  cutAfter(ms: Millis, reason: () => unknown): () => void;
  /** Over and well: nothing aborts the signal any more. */
  end(): void;
}

/** Cuts a lifetime after `ms`. The reason is made only then, because an error with its stack is expensive. */
export interface Limit {
  readonly ms: Millis;
  readonly reason: () => unknown;
}

/** An unused reason: without one, `abort` makes an error with its stack, several times for every request. */
const OVER = 'over';

/** @param onParent makes the reason when the parent aborts */
export function createLifetime(clock: Clock, parent: AbortSignal | undefined, onParent: () => unknown): Lifetime {
  const life = new AbortController();
  const over = new AbortController();

  const cut = (reason: unknown): void => {
    if (over.signal.aborted) return;
    end();
    life.abort(reason);
  };
  const fromParent = (): void => cut(onParent());
  const end = (): void => {
    parent?.removeEventListener('abort', fromParent);
    over.abort(OVER);
  };

  if (parent?.aborted === true) fromParent();
  else parent?.addEventListener('abort', fromParent);

  return {
    signal: life.signal,
    cut,
    end,
    cutAfter(ms, reason) {
      const disarmed = new AbortController();
      const disarm = (): void => {
        over.signal.removeEventListener('abort', disarm);
        disarmed.abort(OVER);
      };
      if (over.signal.aborted) return disarm;
      over.signal.addEventListener('abort', disarm);
      const cutInTime = async (): Promise<void> => {
        if (ms > 0) await clock.sleep(ms, disarmed.signal);
        if (!disarmed.signal.aborted) cut(reason());
      };
      void cutInTime();
      return disarm;
    },
  };
}

/** The limits of a piece of work. */
export interface Term extends Limit {
  readonly clock: Clock;
  readonly parent: AbortSignal | undefined;
  /** Makes the reason when the parent aborts. */
  readonly onParent: () => unknown;
}

/** Runs work with a lifetime that is cut when the parent aborts or after `ms`, and ends it afterwards. */
export async function withLifetime<T>(
  { clock, parent, onParent, ms, reason }: Term,
  work: (life: Lifetime) => Promise<T>,
): Promise<T> {
  const life = createLifetime(clock, parent, onParent);
  life.cutAfter(ms, reason);
  try {
    return await work(life);
  } finally {
    life.end();
  }
}

/** The promise, or the signal's reason as a rejection, whichever comes first. The promise itself then goes on unheard. */
export async function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, cut]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
