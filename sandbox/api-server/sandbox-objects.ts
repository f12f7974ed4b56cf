import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Resource } from '#shared/kube/kube.ts';
import type { Api } from '#sandbox/api-server/api.ts';
import { create } from '#sandbox/api-server/operations/create.ts';
import { mergePatch } from '#sandbox/api-server/operations/merge-patch.ts';
import { remove } from '#sandbox/api-server/operations/remove.ts';
import { apiVersionOf } from '#sandbox/api-server/resources/registry.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { keyOf } from '#sandbox/api-server/store/collection.ts';
import { memberOf, type StoredObject } from '#sandbox/api-server/stored-object.ts';

/**
 * The server's objects from inside the process: for tests and the demo to set the scene and to look. The same rules
 * hold as over HTTP (watches hear of it, invalid objects are refused), but no right is checked and no fault
 * strikes.
 */
export interface Objects {
  /**
   * Makes an object, its status included. Without `apiVersion` and `kind` it is taken to be of the resource.
   *
   * @throws Refusal where the server would not accept it
   */
  readonly seed: <T extends KubeObject>(resource: Resource, object: T) => T & StoredObject;
  /** Merge-patches an object and its status. @throws Refusal */
  readonly patch: (
    resource: Resource,
    name: string,
    patch: Readonly<Record<string, unknown>>,
    namespace?: string,
  ) => StoredObject;
  /** @throws Refusal 404 for a missing object */
  readonly remove: (resource: Resource, name: string, namespace?: string) => void;
  /** Not to be changed: it is the server's own. */
  readonly get: (resource: Resource, name: string, namespace?: string) => StoredObject | undefined;
  /** Of all namespaces unless one is given, sorted by namespace and name. */
  readonly list: (resource: Resource, namespace?: string) => readonly StoredObject[];
  /** The newest resourceVersion. */
  readonly version: () => number;
}

export function objectsOf(api: Api): Objects {
  const { store, registry } = api;
  const servedAs = (resource: Resource): ServedResource => {
    const served = registry.find(resource.group, resource.version, resource.plural);
    if (served === undefined) throw new Error(`the sandbox does not serve ${resource.plural}.${resource.group}`);
    return served;
  };
  const patch: Objects['patch'] = (resource, name, change, namespace) => {
    const served = servedAs(resource);
    const target = { served, namespace, name };
    const patched = mergePatch(api, { ...target, subresource: undefined }, { body: change, strategic: false });
    const status = memberOf(change, 'status');
    if (status === undefined || !served.statusSubresource) return patched;
    return mergePatch(api, { ...target, subresource: 'status' }, { body: { status }, strategic: false });
  };
  return {
    seed<T extends KubeObject>(resource: Resource, object: T) {
      const served = servedAs(resource);
      const { namespace } = object.metadata;
      const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...structuredClone(object) };
      const made = create(api, { served, namespace: resource.namespaced ? namespace : undefined }, body);
      const status = memberOf(body, 'status');
      const wanted = status !== undefined && served.origin === 'custom' && served.statusSubresource;
      return (wanted ? patch(resource, made.metadata.name, { status }, namespace) : made) as T & StoredObject;
    },
    patch,
    remove(resource, name, namespace) {
      remove(api, { served: servedAs(resource), namespace, name, subresource: undefined }, {});
    },
    get: (resource, name, namespace) => store.of(resource).get(keyOf(namespace, name)),
    list: (resource, namespace) =>
      store
        .of(resource)
        .all()
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    version: store.version,
  };
}
