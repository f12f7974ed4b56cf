import type { Millis } from '#shared/runtime/clock.ts';
import type { Window } from './read-window.ts';

/** A window at one moment: whether it is on, and when that changes; null for never within the horizon. */
export interface Span {
  readonly on: boolean;
  readonly until: Millis | null;
  /** `until` is only as far as was looked: it goes on then. */
  readonly goesOn?: true;
}

/** How far ahead anybody looks: the longest wait of a yearly window, and a bit. */
export const HORIZON_MS = 400 * 86_400_000;

/** How many windows that run into one another are followed to their common end. */
const MOST_JOINED = 32;

/**
 * A window is on from each beginning for its duration, in time that passes, whatever clocks do meanwhile. Windows longer than
 * their period run into one another; where that goes on and on, `until` is a moment at which it is still on.
 */
export function spanAt({ schedule, durationMs }: Window, now: Millis): Span {
  let start = schedule.last(now - durationMs, now);
  if (start === undefined) return { on: false, until: schedule.first(now, now + HORIZON_MS) ?? null };
  for (let joined = 0; joined < MOST_JOINED; joined += 1) {
    const next = schedule.last(start, start + durationMs);
    if (next === undefined) return { on: true, until: start + durationMs };
    start = next;
  }
  return { on: true, until: start + durationMs, goesOn: true };
}
