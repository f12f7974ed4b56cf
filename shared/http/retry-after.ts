import type { Millis } from '../runtime/clock.ts';

/**
 * How long a server asks to be left alone (RFC 9110, 10.2.3): seconds, or a date. The caller sets an upper bound.
 *
 * @param nowMs wall-clock time
 * @returns undefined where the header is absent or unreadable
 */
export function retryAfterMs(header: string | undefined, nowMs: Millis): Millis | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
