import type { Millis } from '#shared/runtime/clock.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A span as kubectl shows ages: `12s`, `4m10s`, `3h5m`, `2d4h` (k8s.io/apimachinery/pkg/util/duration, HumanDuration). */
export function humanDuration(span: Millis): string {
  if (span <= -2 * SECOND) return '<invalid>';
  if (span < 0) return '0s';
  if (span < 2 * MINUTE) return whole(span, SECOND, 's');
  if (span < 10 * MINUTE) return `${whole(span, MINUTE, 'm')}${rest(span, MINUTE, SECOND, 's')}`;
  if (span < 3 * HOUR) return whole(span, MINUTE, 'm');
  if (span < 8 * HOUR) return `${whole(span, HOUR, 'h')}${rest(span, HOUR, MINUTE, 'm')}`;
  if (span < 2 * DAY) return whole(span, HOUR, 'h');
  if (span < 8 * DAY) return `${whole(span, DAY, 'd')}${rest(span, DAY, HOUR, 'h')}`;
  if (span < 2 * YEAR) return whole(span, DAY, 'd');
  if (span < 8 * YEAR) return `${whole(span, YEAR, 'y')}${rest(span, YEAR, DAY, 'd')}`;
  return whole(span, YEAR, 'y');
}

const whole = (span: Millis, unit: Millis, letter: string): string => `${Math.floor(span / unit)}${letter}`;

function rest(span: Millis, of: Millis, unit: Millis, letter: string): string {
  const count = Math.floor((span % of) / unit);
  return count === 0 ? '' : `${count}${letter}`;
}

/** The age of a timestamp, `<unknown>` for any other value. */
export function ageOf(timestamp: unknown, now: Millis): string {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now - at);
}
