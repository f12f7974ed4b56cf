import type { Millis } from '#shared/runtime/clock.ts';
import type { Cron } from './cron.ts';
import { type Day, matchesDay } from './days.ts';
import { memo } from './memo.ts';
import type { Zone } from './zone.ts';

/** The moments at which a cron expression begins in a time zone. */
export interface Schedule {
  readonly zone: Zone;
  /** The last beginning in (`after`, `upTo`]. */
  last(after: Millis, upTo: Millis): Millis | undefined;
  /** The first beginning in (`after`, `upTo`]. */
  first(after: Millis, upTo: Millis): Millis | undefined;
}

/** Enough for one look at a window; a day of `* * * * *` has 1440 beginnings. */
const MOST_DAYS = 8;

/** Days more on either side: the day is only near, and what a day leaves out may move on into the next one. */
const MARGIN = 2;

/**
 * An expression whose hours begin with `*` follows the time that passes, so that it begins in both of an hour that comes
 * twice; any other names a time of the day, and begins once a day (as cron does since Vixie's).
 */
export function createSchedule(cron: Cron, zone: Zone): Schedule {
  const times = cron.hours.flatMap((hour) => cron.minutes.map((minute) => hour * 3_600_000 + minute * 60_000));
  const days = new Map<Day, readonly Millis[]>();

  const beginningsOn = (day: Day): readonly Millis[] =>
    matchesDay(cron, day) ? memo(days, MOST_DAYS, day, () => zone.moments(day, times, cron.anyHour)) : [];

  return {
    zone,
    last(after, upTo) {
      const end = zone.dayNear(after) - MARGIN;
      for (let day = zone.dayNear(upTo) + MARGIN; day >= end; day -= 1) {
        const beginnings = beginningsOn(day);
        const found = beginnings[upToIndex(beginnings, upTo) - 1];
        if (found !== undefined) return found > after ? found : undefined;
      }
      return undefined;
    },
    first(after, upTo) {
      const end = zone.dayNear(upTo) + MARGIN;
      for (let day = zone.dayNear(after) - MARGIN; day <= end; day += 1) {
        const beginnings = beginningsOn(day);
        const found = beginnings[upToIndex(beginnings, after)];
        if (found !== undefined) return found <= upTo ? found : undefined;
      }
      return undefined;
    },
  };
}

/** How many of the ascending moments are not after `at`. */
function upToIndex(moments: readonly Millis[], at: Millis): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle] ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
