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
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
    });
  },
};

/** RFC 3339 in UTC with seconds, as Kubernetes writes `metav1.Time`. */
export function toTimestamp(at: Millis): string {
  return new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Reads an RFC 3339 timestamp; undefined where it is missing or unreadable. */
export function fromTimestamp(text: string | undefined | null): Millis | undefined {
  if (text === undefined || text === null) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
