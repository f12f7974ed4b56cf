import type { KubeObject } from '../contract/api/object.ts';
import type { Millis } from '../runtime/clock.ts';
import { malformedBody, parseJson } from './response-body.ts';
import type { Call } from './kube-call.ts';
import type { Selection, WatchStart, WatchEvent } from './kube.ts';
import { objectFrom } from './parse-objects.ts';
import { watchError } from './response-error.ts';
import type { Transport } from './transport.ts';
import { isMap } from '../runtime/maps.ts';

/** A server that has not ended a watch this long after its time is hung or unreachable, however alive the socket looks. */
const GRACE_MS: Millis = 30_000;

/**
 * One watch, until the server ends it. Quiet is normal: bookmarks come only when some object of the kind changed.
 *
 * @throws KUBE_GONE, KUBE_TIMEOUT, KUBE_GARBLED and whatever else ends it otherwise; KUBE_ABORTED by the signal
 */
export async function* watchOnce<T extends KubeObject>(
  transport: Transport,
  { labelSelector, fieldSelector, ...place }: Selection,
  { version, lastsMs }: WatchStart,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const seconds = Math.max(1, Math.ceil(lastsMs / 1000));
  const query = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: version,
    timeoutSeconds: String(seconds),
    labelSelector,
    fieldSelector,
  };
  const call: Call = { verb: 'watch', ...place, query };
  for await (const line of transport.lines(call, seconds * 1000 + GRACE_MS, signal)) {
    yield eventFrom(call, parseJson(call, line));
  }
}

function eventFrom<T extends KubeObject>(call: Call, event: unknown): WatchEvent<T> {
  const { type, object } = isMap(event) ? event : {};
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: versioned(call, objectFrom(call, object) as T) };
    case 'BOOKMARK': {
      const metadata = isMap(object) ? object['metadata'] : undefined;
      const resourceVersion = isMap(metadata) ? metadata['resourceVersion'] : undefined;
      if (typeof resourceVersion !== 'string') throw malformedBody(call, 'a bookmark without a resourceVersion');
      return { type, resourceVersion };
    }
    case 'ERROR':
      throw watchError(call, object);
    default:
      throw malformedBody(call, 'an event of no known type');
  }
}

/** Without its version no watch could go on from an event. */
function versioned<T extends KubeObject>(call: Call, object: T): T {
  if (typeof object.metadata.resourceVersion !== 'string')
    throw malformedBody(call, 'an event without a resourceVersion');
  return object;
}
