import type { Clock, Millis } from './clock.ts';

/**
 * The heart of a level-triggered loop: wake-ups carry no data and coalesce, so that missing, doubling or
 * re-ordering them changes nothing but timing.
 */
interface WakeUps {
  /** Something may have changed. Cheap; any number of calls before the next pass make one pass. */
  poke(): void;
  /** Resolves at the next poke, after `withinMs` at the latest, or when the signal aborts. */
  next(withinMs: Millis, signal: AbortSignal): Promise<void>;
}

export function createWakeUps(clock: Clock): WakeUps {
  let pending = false;
  let wake: (() => void) | undefined;
  return {
    poke() {
      pending = true;
      wake?.();
    },
    async next(withinMs, signal) {
      if (!pending && !signal.aborted) {
        const poked = new AbortController();
        wake = () => poked.abort();
        await clock.sleep(withinMs, AbortSignal.any([poked.signal, signal]));
        wake = undefined;
      }
      pending = false;
    },
  };
}
