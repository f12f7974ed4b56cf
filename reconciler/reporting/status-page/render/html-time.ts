import { fromTimestamp, toTimestamp } from '#shared/runtime/clock.ts';
import { type Html, html } from '../html.ts';

/** A moment for people and for machines: `21 Nov 2026, 12:03:10 UTC`. A script may say how long ago it was. */
export function dateAndTime(timestamp: string): Html {
  const at = fromTimestamp(timestamp);
  return at === undefined ? html`–` : html`<time datetime="${toTimestamp(at)}">${FULL.format(at)} UTC</time>`;
}

/** The time of the day alone, where the day is said nearby. */
export function timeOfDay(timestamp: string): Html {
  const at = fromTimestamp(timestamp);
  return at === undefined ? html`–` : html`<time datetime="${toTimestamp(at)}">${CLOCK.format(at)}</time>`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });
const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
