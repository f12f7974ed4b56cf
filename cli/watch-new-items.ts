import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { MAX_OUTAGE_MS } from './watch-retry.ts';

/** What is watched, and how. */
export interface Watched<Item> {
  readonly look: () => Promise<readonly Item[]>;
  /** Items of the same identity are shown once. */
  readonly identity: (item: Item) => string;
  readonly show: (more: readonly Item[]) => void;
  readonly everyMs: Millis;
  readonly timeoutMs: Millis;
  /** Whether an error may pass by itself; then the next look decides, until none has worked for `MAX_OUTAGE_MS`. */
  readonly isPassing: (error: unknown) => boolean;
}

/**
 * Looks again and again, and shows what was not there before.
 *
 * @param first what was shown already
 * @throws what `look` throws, if that does not pass
 */
export async function watchNewItems<Item>(first: readonly Item[], watched: Watched<Item>, clock: Clock): Promise<void> {
  const { look, identity, show, everyMs, timeoutMs, isPassing } = watched;
  const shown = new Set(first.map(identity));
  const began = clock.monotonic();
  let lookedAt = began;
  while (clock.monotonic() - began < timeoutMs) {
    await clock.sleep(everyMs);
    try {
      const more = (await look()).filter((item) => !shown.has(identity(item)));
      lookedAt = clock.monotonic();
      for (const item of more) shown.add(identity(item));
      if (more.length > 0) show(more);
    } catch (error) {
      if (!isPassing(error) || clock.monotonic() - lookedAt > MAX_OUTAGE_MS) throw error;
    }
  }
}
