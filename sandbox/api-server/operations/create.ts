import type { ObjectMeta } from '#shared/contract/api/object.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import type { Api, Target } from '#sandbox/api-server/api.ts';
import { type Decoded, decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { registerDefinition } from '#sandbox/api-server/operations/register-definition.ts';
import { validateObject } from '#sandbox/api-server/operations/validate-object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '#sandbox/api-server/resources/built-in.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { alreadyExists, badRequest, notFound, unclassified } from '#sandbox/api-server/status/status-refusals.ts';
import { keyOf } from '#sandbox/api-server/store/collection.ts';
import type { Draft, Json, StoredObject } from '#sandbox/api-server/stored-object.ts';

/** POST: makes a new object. @throws Refusal */
export function create(api: Api, { served, namespace }: Target, body: unknown): StoredObject {
  const { resource } = served;
  const sent = decodeObject(served, body, 'body');
  const metadata = newMetadata(api, served, sent.metadata);
  if (sent.metadata['resourceVersion'] !== undefined && sent.metadata['resourceVersion'] !== '') {
    throw unclassified('resourceVersion should not be set on objects to be created');
  }
  requireNamespace(api, namespace, sent.metadata);
  const draft: Draft = {
    ...initial(served, sent),
    metadata: { ...metadata, ...(namespace !== undefined && { namespace }) },
  };
  validateObject(served, draft, undefined);
  if (api.store.of(resource).get(keyOf(namespace, metadata.name)) !== undefined) {
    throw alreadyExists(resource, metadata.name);
  }
  const object = api.store.put(resource, draft);
  return resource === CUSTOM_RESOURCE_DEFINITIONS ? registerDefinition(api, object) : object;
}

function newMetadata(
  api: Api,
  served: ServedResource,
  { name = '', labels, annotations, ownerReferences }: Partial<ObjectMeta>,
): Draft['metadata'] {
  return {
    name,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    uid: api.uid(),
    creationTimestamp: toTimestamp(api.now()),
    ...(served.origin === 'custom' ? { generation: 1 } : {}),
  };
}

/** A namespaced object needs its namespace; what it says of it itself must agree. */
function requireNamespace(api: Api, namespace: string | undefined, metadata: Json): void {
  if (namespace === undefined) return;
  const said = metadata['namespace'] ?? '';
  if (said !== '' && said !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (api.store.of(NAMESPACES).get(namespace) === undefined) throw notFound(NAMESPACES, namespace);
}

/** What of the object counts: the status of a new custom object is for the status subresource to write. */
function initial(
  { resource, origin, statusSubresource }: ServedResource,
  sent: Decoded,
): Decoded & Pick<Draft, 'apiVersion' | 'kind'> {
  const { status, ...rest } = sent;
  const typed = { ...rest, metadata: sent.metadata, apiVersion: String(sent['apiVersion']), kind: resource.kind };
  if (resource === NAMESPACES) return { ...typed, status: { phase: 'Active' } };
  return (origin === 'custom' && statusSubresource) || status === undefined ? typed : { ...typed, status };
}
