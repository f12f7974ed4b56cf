import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Paint } from '../paint.ts';
import { isTransient, WATCH_INTERVAL_MS, MAX_OUTAGE_MS } from '../watch-retry.ts';
import type { StatusView } from './render.ts';

/** One reading of a cluster's status, and how it is shown. */
export interface StatusReading {
  readonly view: StatusView;
  readonly text: string;
}

export interface Watching {
  /** Whether there is nothing more to wait for. */
  isEnough(view: StatusView): boolean;
  /** Why waiting is of no use any more; null while it is. */
  stops(view: StatusView): string | null;
  /** Infinity for no limit. */
  readonly timeoutMs: Millis;
  /** In place of what was shown before. */
  show(text: string): void;
  readonly paint: Paint;
}

/**
 * Looks again and again until all is settled, or will not be.
 *
 * @returns why it is not settled; null if it is
 * @throws KubeError where the API server says no, or is away for too long
 */
export async function watchStatus(
  first: StatusReading,
  look: () => Promise<StatusReading>,
  { isEnough, stops, timeoutMs, show, paint }: Watching,
  clock: Clock,
): Promise<string | null> {
  const began = clock.monotonic();
  let last = first;
  let lookedAt = began;
  let stopped = stops(first.view);
  while (!isEnough(last.view)) {
    if (clock.monotonic() - began >= timeoutMs) return 'not settled within --timeout';
    await clock.sleep(WATCH_INTERVAL_MS);
    let trouble = '';
    // A commit comes into force an instant before its pools say so: what stands still does so twice.
    const before: string | null = stopped;
    try {
      last = await look();
      lookedAt = clock.monotonic();
      stopped = stops(last.view);
    } catch (error) {
      if (!isTransient(error) || clock.monotonic() - lookedAt > MAX_OUTAGE_MS) throw error;
      stopped = null;
      trouble = `\n${paint('bad', `not as it is now: ${reasonOf(error)}`)}\n`;
    }
    show(`${last.text}${trouble}`);
    if (stopped !== null && stopped === before) return `waiting for a person: ${stopped}`;
  }
  return null;
}
