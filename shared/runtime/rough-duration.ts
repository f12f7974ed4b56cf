import type { Millis } from './clock.ts';

const [SECOND, MINUTE, HOUR, DAY]: readonly [Millis, Millis, Millis, Millis] = [1_000, 60_000, 3_600_000, 86_400_000];

/** A span as a person wants to know it, rounded up: `40 s`, `20 min`, `1 h 50 min`, `3 d 4 h`. */
export function formatRoughly(span: Millis): string {
  if (span <= 90 * SECOND) return `${Math.ceil(Math.max(0, span) / SECOND)} s`;
  const minutes = Math.ceil(span / MINUTE) * MINUTE;
  if (minutes < HOUR) return `${minutes / MINUTE} min`;
  if (minutes < DAY) return two(minutes, [HOUR, 'h'], [MINUTE, 'min']);
  return two(Math.ceil(span / HOUR) * HOUR, [DAY, 'd'], [HOUR, 'h']);
}

function two(span: Millis, [large, of]: readonly [Millis, string], [small, and]: readonly [Millis, string]): string {
  const rest = (span % large) / small;
  return `${Math.floor(span / large)} ${of}${rest === 0 ? '' : ` ${rest} ${and}`}`;
}
