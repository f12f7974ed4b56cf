import type { Millis } from '#shared/runtime/clock.ts';

/** What is to come, in simulated time. */
export interface SimulatedClock {
  now(): Millis;
  at(time: Millis, come: () => void): void;
  /** Lets come what is due by then, and goes there. */
  advanceTo(time: Millis): void;
  /** Goes on to what comes next. @returns false where nothing does */
  advanceToNext(): boolean;
}

interface Entry {
  readonly time: Millis;
  readonly come: () => void;
}

/** Begins at 0. What is due in the same moment comes in the order in which it was noted down. */
export function createSimulatedClock(): SimulatedClock {
  /** The earliest comes last: taking it from the end is cheap. */
  const entries: Entry[] = [];
  let now: Millis = 0;

  function passTo(time: Millis): void {
    now = Math.max(now, time);
    for (let next = entries.at(-1); next !== undefined && next.time <= now; next = entries.at(-1)) {
      entries.pop();
      next.come();
    }
  }

  function passOn(): boolean {
    const next = entries.at(-1);
    if (next === undefined) return false;
    passTo(next.time);
    return true;
  }

  return {
    now: () => now,
    at(time, come) {
      let [low, high] = [0, entries.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((entries[middle]?.time ?? 0) > time) low = middle + 1;
        else high = middle;
      }
      entries.splice(low, 0, { time, come });
    },
    advanceTo: passTo,
    advanceToNext: passOn,
  };
}
