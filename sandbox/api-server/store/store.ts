import type { Resource } from '#shared/kube/kube.ts';
import type { Collection } from '#sandbox/api-server/store/collection.ts';
import { createCollection, keyOfObject } from '#sandbox/api-server/store/collection.ts';
import type { Change } from '#sandbox/api-server/store/history.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

/** An object that is about to be written: everything but its resourceVersion. */
export type Draft = Omit<StoredObject, 'metadata'> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Omit<StoredObject['metadata'], 'resourceVersion'>;
};

/** What etcd is to the real server: all objects under one version counter. Nothing in here knows what an object means. */
export interface ObjectStore {
  /** Version of the newest write. */
  readonly version: () => number;
  /** The objects of a resource; the collection begins to exist, empty, when it is first asked for. */
  readonly of: (resource: Resource) => Collection;
  /** Writes under the next version, over what is there under that name. */
  readonly put: (resource: Resource, draft: Draft) => StoredObject;
  /** Removes and returns the last state, under a version of its own; undefined where there is none. */
  readonly remove: (resource: Resource, key: string) => StoredObject | undefined;
  /** Forgets all history, as etcd's compaction does: watches from older versions and older pages are refused. */
  readonly compact: () => void;
}

/**
 * @param heard        called after each write, before the next one
 * @param historyLimit changes that are kept per resource, at least
 */
export function createStore(heard: (resource: Resource, change: Change) => void, historyLimit: number): ObjectStore {
  const collections = new Map<string, Collection>();
  let version = 1;
  const of = (resource: Resource): Collection => {
    const id = collectionId(resource);
    const present = collections.get(id);
    if (present !== undefined) return present;
    const collection = createCollection(version, historyLimit);
    collections.set(id, collection);
    return collection;
  };
  const record = (resource: Resource, change: Change): StoredObject => {
    of(resource).record(change);
    heard(resource, change);
    return change.object;
  };
  return {
    version: () => version,
    of,
    put(resource, draft) {
      version += 1;
      const object = stamped(draft, version);
      const before = of(resource).get(keyOfObject(object)) ?? null;
      return record(resource, { type: before === null ? 'ADDED' : 'MODIFIED', version, object, before });
    },
    remove(resource, key) {
      const before = of(resource).get(key);
      if (before === undefined) return undefined;
      version += 1;
      return record(resource, { type: 'DELETED', version, object: stamped(before, version), before });
    },
    compact: () => collections.forEach(({ history }) => history.forgetTo(version)),
  };
}

/** Identifies a resource whatever version of it is spoken. */
export const collectionId = ({ group, plural }: Resource): string => `${group}/${plural}`;

/** The version is the last of the writer's business: no caller can set it. */
function stamped(draft: Draft, version: number): StoredObject {
  const metadata = { ...draft.metadata, resourceVersion: String(version) };
  return { ...draft, apiVersion: draft.apiVersion, kind: draft.kind, metadata };
}
