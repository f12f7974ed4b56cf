import type { Millis } from '#shared/runtime/clock.ts';

const DIVISORS_OF_60 = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
const DIVISORS_OF_24 = [1, 2, 3, 4, 6, 8, 12, 24];

export interface EveryPattern {
  /** Six fields, seconds first. */
  readonly pattern: string;
  /** What it comes to: as asked, or the next shorter span that divides a minute, an hour or a day. */
  readonly everyMs: Millis;
}

/**
 * A cron pattern that fires as often as asked.
 *
 * @param chance two numbers in [0, 1) that place it within the minute and the hour, so that a thousand clusters do not
 *   all ask at the full minute
 */
export function cronEvery(askedMs: Millis, chance: readonly [number, number]): EveryPattern {
  const [first, second] = chance;
  const seconds = Math.max(1, Math.floor(askedMs / 1000));
  if (seconds < 60) {
    const step = largest(DIVISORS_OF_60, seconds);
    return { pattern: `${spread(step, 60, first)} * * * * *`, everyMs: step * 1000 };
  }
  const second60 = Math.floor(first * 60);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    const step = largest(DIVISORS_OF_60, minutes);
    return { pattern: `${second60} ${spread(step, 60, second)} * * * *`, everyMs: step * 60_000 };
  }
  const step = largest(DIVISORS_OF_24, Math.floor(minutes / 60));
  const minute = Math.floor(second * 60);
  return { pattern: `${second60} ${minute} ${spread(step, 24, first)} * * *`, everyMs: step * 3_600_000 };
}

const largest = (divisors: readonly number[], atMost: number): number =>
  divisors.findLast((divisor) => divisor <= atMost) ?? 1;

function spread(step: number, whole: number, chance: number): string {
  if (step === 1) return '*';
  const offset = Math.floor(chance * step);
  return Array.from({ length: whole / step }, (_, index) => offset + index * step).join(',');
}
