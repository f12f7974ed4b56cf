import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { PATIENCE_MS } from '../patience.ts';
import type { HistoryEntry } from './read-history.ts';

/** Each look is a fetch. Notes follow the cluster by some seconds, and a git server has others to serve. */
export const FETCH_EVERY_MS: Millis = 15_000;

/**
 * Looks again and again, and shows what has a note that it did not have before, the oldest first.
 *
 * @throws GitopsError `FETCH_FAILED` where the server is away for too long
 */
export async function watchHistory(
  first: readonly HistoryEntry[],
  look: () => Promise<readonly HistoryEntry[]>,
  show: (more: readonly HistoryEntry[]) => void,
  timeoutMs: Millis,
  clock: Clock,
): Promise<void> {
  const shown = new Set(first.map(identity));
  const began = clock.monotonic();
  let lookedAt = began;
  while (clock.monotonic() - began < timeoutMs) {
    await clock.sleep(FETCH_EVERY_MS);
    try {
      const more = (await look()).filter((entry) => !shown.has(identity(entry)));
      lookedAt = clock.monotonic();
      for (const entry of more) shown.add(identity(entry));
      if (more.length > 0) show(more.toReversed());
    } catch (error) {
      if (codeOf(error) !== 'FETCH_FAILED' || clock.monotonic() - lookedAt > PATIENCE_MS) throw error;
    }
  }
}

const identity = ({ commit, cluster, note }: HistoryEntry): string => JSON.stringify([commit, cluster, note]);
