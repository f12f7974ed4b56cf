import type { Millis } from '#shared/runtime/clock.ts';

/** Follows for how long something holds, from look to look. */
export interface Lasting {
  /** @returns since the first look in a row that found it so; 0 where it does not hold */
  tell(holds: boolean, now: Millis): Millis;
}

export function createLasting(): Lasting {
  let since: Millis | undefined;
  return {
    tell(holds, now) {
      since = holds ? (since ?? now) : undefined;
      return since === undefined ? 0 : now - since;
    },
  };
}
