import type { Resource } from '#shared/kube/kube.ts';
import { type Collection, createCollection, keyOfObject } from '#sandbox/api-server/store/collection.ts';
import type { Change } from '#sandbox/api-server/store/change-history.ts';
import { changeAs, type Readable, throughView, type ResourceView } from '#sandbox/api-server/store/resource-view.ts';
import type { Draft, StoredObject } from '#sandbox/api-server/stored-object.ts';

/** What etcd is to the real server: all objects under one version counter. Nothing in here knows what an object means. */
export interface ObjectStore {
  /** Version of the newest write. */
  readonly version: () => number;
  /** The objects of a resource; the collection begins to exist, empty, when it is first asked for. */
  readonly of: (resource: Resource) => Readable;
  /** Writes under the next version, over what is there under that name. */
  readonly put: (resource: Resource, draft: Draft) => StoredObject;
  /** Removes and returns the last state, under a version of its own; undefined where there is none. */
  readonly remove: (resource: Resource, key: string) => StoredObject | undefined;
  /** Forgets all history, as etcd's compaction does: watches from older versions and older pages are refused. */
  readonly compact: () => void;
  /** All of it as it is now. */
  readonly snapshot: () => Snapshot;
  /** Goes back in time: objects and versions are as they were then, and what came after is forgotten. */
  readonly restore: (snapshot: Snapshot) => void;
}

/** What a backup of etcd has. */
export interface Snapshot {
  readonly version: number;
  /** By resource. */
  readonly objects: ReadonlyMap<string, readonly StoredObject[]>;
}

/**
 * @param heard        called after each write, before the next one; of a resource with a view once for each of the two
 * @param historyLimit changes that are kept per resource, at least
 * @param views        resources whose objects are kept as those of others
 */
export function createStore(
  heard: (resource: Resource, change: Change) => void,
  historyLimit: number,
  views: readonly ResourceView[] = [],
): ObjectStore {
  const collections = new Map<string, Collection>();
  let version = 1;
  const viewOf = (resource: Resource): ResourceView | undefined =>
    views.find((view) => collectionId(view.resource) === collectionId(resource));
  const kept = (resource: Resource): Collection => {
    const id = collectionId(resource);
    const present = collections.get(id);
    if (present !== undefined) return present;
    const collection = createCollection(version, historyLimit);
    collections.set(id, collection);
    return collection;
  };
  const record = (resource: Resource, change: Change): StoredObject => {
    kept(resource).record(change);
    heard(resource, change);
    for (const view of views) {
      if (collectionId(view.keptAs) === collectionId(resource)) heard(view.resource, changeAs(view.shown, change));
    }
    return change.object;
  };
  const put: ObjectStore['put'] = (resource, draft) => {
    const view = viewOf(resource);
    if (view !== undefined) return view.shown(put(view.keptAs, view.kept(draft)));
    version += 1;
    const object = stamped(draft, version);
    const before = kept(resource).get(keyOfObject(object)) ?? null;
    return record(resource, { type: before === null ? 'ADDED' : 'MODIFIED', version, object, before });
  };
  const remove: ObjectStore['remove'] = (resource, key) => {
    const view = viewOf(resource);
    if (view !== undefined) {
      const removed = remove(view.keptAs, key);
      return removed === undefined ? undefined : view.shown(removed);
    }
    const before = kept(resource).get(key);
    if (before === undefined) return undefined;
    version += 1;
    return record(resource, { type: 'DELETED', version, object: stamped(before, version), before });
  };
  return {
    version: () => version,
    of(resource) {
      const view = viewOf(resource);
      return view === undefined ? kept(resource) : throughView(view, kept(view.keptAs));
    },
    put,
    remove,
    compact: () => collections.forEach(({ history }) => history.forgetTo(version)),
    snapshot: () => ({
      version,
      objects: new Map([...collections].map(([id, collection]) => [id, collection.all()])),
    }),
    restore(snapshot) {
      ({ version } = snapshot);
      for (const [id, collection] of collections) collection.reset(snapshot.objects.get(id) ?? [], version);
    },
  };
}

/** Identifies a resource whatever version of it is spoken. */
export const collectionId = ({ group, plural }: Resource): string => `${group}/${plural}`;

/** The version is the last of the writer's business: no caller can set it. */
function stamped(draft: Draft, version: number): StoredObject {
  const metadata = { ...draft.metadata, resourceVersion: String(version) };
  return { ...draft, apiVersion: draft.apiVersion, kind: draft.kind, metadata };
}
