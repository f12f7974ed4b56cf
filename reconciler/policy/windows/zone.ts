import type { Millis } from '#shared/runtime/clock.ts';
import { DAY_MS, type Day } from './days.ts';
import { memo } from './memo.ts';

/** Milliseconds since 1970-01-01 00:00 as clocks on the wall show it, without saying where. */
type WallMillis = number;

/** A time zone, by the tables that Node brings. */
export interface Zone {
  readonly name: string;
  /** What the wall shows at this moment. */
  wallAt(at: Millis): WallMillis;
  /** The day there at this moment, or one beside it in the hours around a change of the clocks; costs less than `wallAt`. */
  dayNear(at: Millis): Day;
  /**
   * The moments of some times of one day, each in milliseconds since its midnight.
   *
   * A time that the day leaves out (clocks go forward) is moved on by what was left out: 02:30 becomes 03:30. A time that it
   * has twice (clocks go back) is the first of the two, or both where `twice` is set.
   */
  moments(day: Day, times: readonly Millis[], twice: boolean): readonly Millis[];
}

const MOST_DAYS = 1024;

/** @returns undefined where Node knows no zone of that name; offsets such as `+01:00` are no zones */
export function zoneNamed(name: string): Zone | undefined {
  if (!/[a-z]/i.test(name)) return undefined;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, hourCycle: 'h23', ...PARTS });
  } catch {
    return undefined;
  }
  const offsets = new Map<Day, Millis>();
  const wallAt = (at: Millis): WallMillis => readWall(format, at);
  /** The offset at UTC midnight; days are asked for again and again. */
  const offsetOn = (day: Day): Millis => memo(offsets, MOST_DAYS, day, () => wallAt(day * DAY_MS) - day * DAY_MS);
  return {
    name,
    wallAt,
    dayNear: (at) => Math.floor((at + offsetOn(Math.floor(at / DAY_MS))) / DAY_MS),
    moments(day, times, twice) {
      // No zone is more than a day off UTC, and none changes twice within three days.
      const [before, after] = [offsetOn(day - 1), offsetOn(day + 2)];
      const midnight = day * DAY_MS;
      if (before === after) return times.map((time) => midnight + time - before);
      const all = times.flatMap((time) => onDayOfChange(midnight + time, { before, after, wallAt, twice }));
      return [...new Set(all)].sort((a, b) => a - b);
    },
  };
}

interface Change {
  readonly before: Millis;
  readonly after: Millis;
  readonly wallAt: (at: Millis) => WallMillis;
  readonly twice: boolean;
}

function onDayOfChange(wall: WallMillis, { before, after, wallAt, twice }: Change): readonly Millis[] {
  // Both are only where clocks go back, which is when the offset before is the larger one: the first comes first.
  const found = [wall - before, wall - after].filter((at) => wallAt(at) === wall);
  if (found.length === 0) return [wall - before];
  return twice ? found : found.slice(0, 1);
}

const PARTS = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;

function readWall(format: Intl.DateTimeFormat, at: Millis): WallMillis {
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: keyof typeof PARTS): number => parts.get(type) ?? 0;
  const date = Date.UTC(part('year'), part('month') - 1, part('day'));
  return date + part('hour') * 3_600_000 + part('minute') * 60_000 + part('second') * 1_000 + (at % 1_000);
}
