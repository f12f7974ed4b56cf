import { askedToWaitMs, isKubeError, KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, LEASES, type Place } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';

/**
 * The same API server, left alone for as long as it asks (429 or 5xx with Retry-After): until then every call ends with
 * KUBE_THROTTLED and is not sent. Calls for Leases go through, because a leader that does not renew loses the lead, and
 * API servers count them apart from all others. Watches that are open stay open.
 */
export function withRetryAfter(kube: Kube, clock: Clock): Kube {
  let until: Millis = Number.NEGATIVE_INFINITY;

  const requireLeave = ({ resource }: Place): void => {
    const leftMs = until - clock.monotonic();
    if (isOfLead(resource) || leftMs <= 0) return;
    const message = `the API server asked to be left alone for another ${Math.ceil(leftMs / 1000)} s: ${resource.plural} have to wait`;
    throw new KubeError('KUBE_THROTTLED', message, { disposition: { kind: 'wait', ms: leftMs } });
  };
  const heed = ({ resource }: Place, error: unknown): void => {
    const askedMs = isKubeError(error) ? askedToWaitMs(error) : undefined;
    if (askedMs !== undefined && !isOfLead(resource)) until = Math.max(until, clock.monotonic() + askedMs);
  };
  async function patiently<T>(place: Place, call: () => Promise<T>): Promise<T> {
    requireLeave(place);
    try {
      return await call();
    } catch (error) {
      heed(place, error);
      throw error;
    }
  }

  return {
    get: (place, name, signal) => patiently(place, () => kube.get(place, name, signal)),
    list: (selection, signal, trim) => patiently(selection, () => kube.list(selection, signal, trim)),
    create: (place, object, signal) => patiently(place, () => kube.create(place, object, signal)),
    delete: (place, name, only, signal) => patiently(place, () => kube.delete(place, name, only, signal)),
    mergePatch: (place, name, patch, options, signal) =>
      patiently(place, () => kube.mergePatch(place, name, patch, options, signal)),
    async *watch(selection, since, signal) {
      requireLeave(selection);
      try {
        yield* kube.watch(selection, since, signal);
      } catch (error) {
        heed(selection, error);
        throw error;
      }
    },
  };
}

const isOfLead = (resource: Place['resource']): boolean => resource === LEASES;
