import type { IncomingMessage } from 'node:http';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Listing } from '#sandbox/api-server/operations/read-objects.ts';
import { apiVersionOf } from '#sandbox/api-server/resources/registry.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { notAcceptable } from '#sandbox/api-server/status/status-refusals.ts';
import type { Json, StoredObject } from '#sandbox/api-server/stored-object.ts';
import { type IncludeObject, tableOf } from '#sandbox/api-server/table/kube-table.ts';

/** How a client wants to see objects. */
export interface Projection {
  readonly one: (object: StoredObject) => Json;
  readonly many: (listing: Listing) => Json;
}

/** Follows the Accept header: the first of its entries that the server can do. @throws Refusal 406 */
export function projectionFor(
  { headers }: IncomingMessage,
  served: ServedResource,
  query: URLSearchParams,
  now: () => Millis,
): Projection {
  for (const entry of (headers.accept ?? 'application/json').split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
    if (as === undefined) return wholeObjects(served);
    if (as === 'Table') return tables(served, query, now);
  }
  throw notAcceptable('only the following media types are accepted: application/json');
}

/** Custom resources of real servers come sorted by key, which makes no difference. */
const wholeObjects = ({ resource, listKind }: ServedResource): Projection => ({
  one: (object) => object,
  many: ({ items, metadata }) => ({ kind: listKind, apiVersion: apiVersionOf(resource), metadata, items }),
});

function tables({ columns }: ServedResource, query: URLSearchParams, now: () => Millis): Projection {
  const asked = query.get('includeObject');
  const include: IncludeObject = asked === 'None' || asked === 'Object' ? asked : 'Metadata';
  const table = (items: readonly StoredObject[], metadata: Json): Json =>
    tableOf(items, columns, { metadata, include, now: now() });
  return {
    one: (object) => table([object], { resourceVersion: object.metadata.resourceVersion }),
    many: ({ items, metadata }) => table(items, metadata),
  };
}
