import type { Millis } from '#shared/runtime/clock.ts';

/** Follows for how long something holds, from look to look. */
interface DurationTracker {
  /** @returns since the first look in a row that found it so; 0 if it does not hold */
  update(holds: boolean, now: Millis): Millis;
}

export function createDurationTracker(): DurationTracker {
  let since: Millis | undefined;
  return {
    update(holds, now) {
      since = holds ? (since ?? now) : undefined;
      return since === undefined ? 0 : now - since;
    },
  };
}
