import type { Api, NamedTarget } from '#sandbox/api-server/api.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '#sandbox/api-server/resources/built-in.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { conflict, notFound } from '#sandbox/api-server/status/status-refusals.ts';
import { keyOf, keyOfObject } from '#sandbox/api-server/store/collection.ts';
import { type Json, memberOf, type StoredObject } from '#sandbox/api-server/stored-object.ts';

/** DELETE. @param options `metav1.DeleteOptions`; only its preconditions count @throws Refusal */
export function remove(api: Api, { served, namespace, name }: NamedTarget, options: unknown): Json {
  const { resource } = served;
  const key = keyOf(namespace, name);
  const object = api.store.of(resource).get(key);
  if (object === undefined) throw notFound(resource, name);
  requirePreconditions(served, object, options);
  api.store.remove(resource, key);
  afterwards(api, served, object);
  const details = { name, ...(resource.group === '' ? {} : { group: resource.group }), kind: resource.plural };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...details, uid: object.metadata.uid },
  };
}

function requirePreconditions({ resource }: ServedResource, { metadata }: StoredObject, options: unknown): void {
  const { uid, resourceVersion: version } = preconditionsIn(options);
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(resource, metadata.name, why, 'kind');
  }
  if (version !== undefined && version !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${version}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(resource, metadata.name, why, 'kind');
  }
}

function preconditionsIn(options: unknown): { readonly uid?: string; readonly resourceVersion?: string } {
  const { uid, resourceVersion } = (memberOf(options, 'preconditions') ?? {}) as Json;
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

/** What the controllers of a real cluster do soon after a deletion, done at once. */
function afterwards(api: Api, { resource }: ServedResource, removed: StoredObject): void {
  const ended = resource === CUSTOM_RESOURCE_DEFINITIONS ? api.registry.undefine(removed) : undefined;
  if (ended !== undefined) removeWhere(api, ended, () => true);
  for (const served of api.registry.all()) {
    if (resource === NAMESPACES && served.resource.namespaced) {
      removeWhere(api, served, ({ metadata }) => metadata.namespace === removed.metadata.name);
    }
    removeWhere(api, served, (object) => isOrphanOf(object, removed.metadata.uid));
  }
}

/** The garbage collector's rule, as far as one owner goes: none of our objects has more. */
const isOrphanOf = ({ metadata: { ownerReferences = [] } }: StoredObject, uid: string): boolean =>
  ownerReferences.length > 0 && ownerReferences.every((owner) => owner.uid === uid);

function removeWhere(api: Api, served: ServedResource, test: (object: StoredObject) => boolean): void {
  for (const object of api.store.of(served.resource).all().filter(test)) {
    api.store.remove(served.resource, keyOfObject(object));
    afterwards(api, served, object);
  }
}
