import type { KubeObject } from '../contract/api/object.ts';
import { backoffDelay } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { isKubeError } from './kube-error.ts';
import type { Kube, Place } from './kube.ts';

interface UpdateOptions {
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly subresource?: 'status';
  readonly signal?: AbortSignal;
}

type Patch = Readonly<Record<string, unknown>>;

/** client-go's `retry.DefaultRetry`: five tries, the pauses only there to part two writers that keep meeting. */
const MOST_TRIES = 5;
const PAUSE = { firstMs: 10, maxMs: 200, jitter: 0.5 };

/**
 * Reads an object, asks what to change about it, and writes that unless another writer was quicker; then again from
 * the start, a few times.
 *
 * @param change the merge patch for the object as it is now, without a resourceVersion; null for no change
 * @returns the object after the write, or as it was read without a change; null if there is none
 * @throws KUBE_CONFLICT where the last try met another writer as well
 */
export async function mergePatchLatest<T extends KubeObject>(
  kube: Kube,
  place: Place,
  name: string,
  change: (latest: T) => Patch | null,
  { clock, random, subresource, signal }: UpdateOptions,
): Promise<T | null> {
  for (let tries = 1; ; tries += 1) {
    const latest = await kube.get<T>(place, name, signal);
    const patch = latest === null ? null : change(latest);
    if (latest === null || patch === null) return latest;
    try {
      return await kube.mergePatch<T>(
        place,
        name,
        pinned(patch, latest),
        subresource === undefined ? {} : { subresource },
        signal,
      );
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT') || tries >= MOST_TRIES) throw error;
      await clock.sleep(backoffDelay(tries, PAUSE, random()), signal);
    }
  }
}

function pinned(patch: Patch, { metadata: { resourceVersion } }: KubeObject): Patch {
  const metadata = (patch['metadata'] ?? {}) as Patch;
  return { ...patch, metadata: { ...metadata, resourceVersion } };
}
