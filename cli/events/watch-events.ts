import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { isPassing, LOOK_EVERY_MS, PATIENCE_MS } from '../patience.ts';
import type { Happened } from './happened.ts';

/**
 * Looks again and again, and shows what was not there before. What happens several times is shown again when its count grows.
 *
 * @throws KubeError where the API server says no, or is away for too long
 */
export async function watchEvents(
  first: readonly Happened[],
  look: () => Promise<readonly Happened[]>,
  show: (more: readonly Happened[]) => void,
  timeoutMs: Millis,
  clock: Clock,
): Promise<void> {
  const shown = new Set(first.map(identity));
  const began = clock.monotonic();
  let lookedAt = began;
  while (clock.monotonic() - began < timeoutMs) {
    await clock.sleep(LOOK_EVERY_MS);
    try {
      const more = (await look()).filter((each) => !shown.has(identity(each)));
      lookedAt = clock.monotonic();
      for (const each of more) shown.add(identity(each));
      if (more.length > 0) show(more);
    } catch (error) {
      if (!isPassing(error) || clock.monotonic() - lookedAt > PATIENCE_MS) throw error;
    }
  }
}

const identity = ({ id, count }: Happened): string => `${id} ${count}`;
