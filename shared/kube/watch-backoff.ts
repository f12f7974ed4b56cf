import { type BackoffOptions, backoffDelay } from '../runtime/backoff.ts';
import type { Millis } from '../runtime/clock.ts';

/** One try to follow: a list where one is due, then a watch, until the watch ended. */
export interface WatchAttempt {
  /** `gone`: the server has forgotten the version that the watch went on from. */
  readonly ended: 'closed' | 'gone' | 'fault';
  /** An event came, a bookmark included. */
  readonly heard: boolean;
  /** Since the list, where there was one, otherwise since the try began. */
  readonly lastedMs: Millis;
  /** The server asked for this much time (Retry-After). */
  readonly askedMs: Millis;
}

export interface WatchBackoff {
  /** How many tries in a row came to nothing. */
  readonly misses: number;
  readonly pauseMs: Millis;
  /** The next try begins with a list. */
  readonly listAgain: boolean;
}

/** A watch that lasted this long was a good one, even if nothing happened on it: a call that hangs ends before. */
export const STABLE_WATCH_MS = 60_000;

/** Every so many misses the version itself is doubted (a restored etcd can be behind it). */
const DOUBT_EVERY = 3;

/**
 * What comes after a try. After a good one that the server closed, and after the first `gone` in a row (which costs one
 * list), the next may begin at once, but never sooner than the first step of the back-off after this one. Everything else
 * backs off.
 *
 * @param misses the tries in a row before this one that came to nothing
 */
export function backoffAfter(
  tried: WatchAttempt,
  misses: number,
  backoff: BackoffOptions,
  random: number,
): WatchBackoff {
  const good = tried.heard || tried.lastedMs >= STABLE_WATCH_MS;
  const before = good ? 0 : misses;
  const now = good && tried.ended === 'closed' ? 0 : before + 1;
  return {
    misses: now,
    pauseMs: Math.max(tried.askedMs, pauseOf(tried, now, backoff, random)),
    listAgain: tried.ended === 'gone' || (now > 0 && now % DOUBT_EVERY === 0),
  };
}

function pauseOf({ ended, lastedMs }: WatchAttempt, misses: number, backoff: BackoffOptions, random: number): Millis {
  const wellKnown = misses === 0 || (ended === 'gone' && misses === 1);
  return wellKnown ? Math.max(0, backoff.firstMs - lastedMs) : backoffDelay(misses, backoff, random);
}
