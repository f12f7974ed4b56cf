import type { KubeObject } from '../contract/api/object.ts';
import { malformedBody } from './response-body.ts';
import type { Call } from './kube-call.ts';
import type { Listed } from './kube.ts';
import { isMap } from '../runtime/maps.ts';

/** A decoded body as an object of the API. Only what the client itself relies on is checked. @throws KUBE_GARBLED */
export function objectFrom(call: Call, body: unknown): KubeObject {
  const metadata = isMap(body) ? body['metadata'] : undefined;
  if (!isMap(metadata) || typeof metadata['name'] !== 'string') {
    throw malformedBody(call, 'the answer is not an object of the API');
  }
  return body as KubeObject;
}

export interface Page<T> extends Listed<T> {
  /** Opaque; where the next page starts, undefined on the last. */
  readonly next: string | undefined;
}

/** A decoded body as (a page of) a list. @throws KUBE_GARBLED */
export function pageFrom<T extends KubeObject>(call: Call, body: unknown): Page<T> {
  if (isMap(body) && isMap(body['metadata'])) {
    const { resourceVersion, continue: next } = body['metadata'];
    // Go writes an empty list of some types as null.
    const items = body['items'] ?? [];
    if (typeof resourceVersion === 'string' && Array.isArray(items)) {
      return {
        resourceVersion,
        items: items.map((item) => objectFrom(call, item) as T),
        next: typeof next === 'string' && next !== '' ? next : undefined,
      };
    }
  }
  throw malformedBody(call, 'the answer is not a list of the API');
}
