import type { Millis } from './clock.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Reads a duration of ours: one or more of `1h`, `30m`, `10s`, `500ms` in that order of size, as Kubernetes people
 * write them (`1h30m`).
 *
 * @returns milliseconds, or undefined where the text is no such duration (signs, days and bare numbers are not)
 */
export function parseDuration(text: string): Millis | undefined {
  const match = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (match === null || text === '') return undefined;
  const [, h, m, s, ms] = match;
  return (
    Number(h ?? 0) * (UNITS['h'] ?? 0) + Number(m ?? 0) * (UNITS['m'] ?? 0) + Number(s ?? 0) * 1_000 + Number(ms ?? 0)
  );
}

/** Writes milliseconds the way `parseDuration` reads them: `90_000` is `1m30s`, `0` is `0s`. */
export function formatDuration(span: Millis): string {
  let rest = Math.max(0, Math.round(span));
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms'] as const) {
    const size = UNITS[unit] ?? 1;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}
