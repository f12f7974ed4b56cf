/** A moment (milliseconds since the epoch) or a span (milliseconds), as the name of the variable says. */
export type Millis = number;

/** Time as everything that waits sees it; injected, so that tests own it. */
export interface Clock {
  /** Wall-clock time. For display and for comparing with other machines' timestamps only. */
  now(): Millis;
  /** Time that never jumps and never goes back; starts anywhere. For measuring spans within one process. */
  monotonic(): Millis;
  /** Resolves after `ms`, or at once when the signal aborts (never rejects). */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      let timer: NodeJS.Timeout;
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const wait = (left: Millis): void => {
        const part = Math.min(left, LONGEST_TIMER_MS);
        timer = setTimeout(() => (left > part ? wait(left - part) : done()), part);
      };
      wait(ms);
      signal?.addEventListener('abort', done);
    });
  },
};

/** Node's timers end at once where they are given more than fits into 31 bits, 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** RFC 3339 in UTC with seconds, as Kubernetes writes `metav1.Time`. */
export function toTimestamp(at: Millis): string {
  return new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/**
 * Reads an RFC 3339 timestamp; undefined if missing, unreadable or no day of its month. A year has four digits there: what people can write
 * elsewhere, as in an annotation, may lie so far away that nothing can be added to it.
 */
export function fromTimestamp(text: string | undefined | null): Millis | undefined {
  if (typeof text !== 'string' || !/^\d{4}-/.test(text) || !isInMonth(text)) return undefined;
  const at = IN_SECONDS.test(text) ? fromSeconds(text) : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** `Date` takes the 30th of February for the 2nd of March. */
function isInMonth(text: string): boolean {
  const day = text.slice(8, 10);
  return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === Number(day);
}

/** As Kubernetes writes `metav1.Time`. Thousands are read at a time, and `Date.parse` takes five times as long. */
const IN_SECONDS = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

function fromSeconds(text: string): Millis {
  const two = (at: number): number => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - TWO_ZEROS;
  return Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17));
}

const TWO_ZEROS = '0'.charCodeAt(0) * 11;
