import { type Change, createHistory, type History } from '#sandbox/api-server/store/change-history.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

/** The objects of one resource, in the order of their keys as etcd has it: by namespace, then by name. */
export interface Collection {
  readonly get: (key: string) => StoredObject | undefined;
  readonly all: () => readonly StoredObject[];
  /** As it was at a version; undefined where that is forgotten. */
  readonly allAt: (version: number) => readonly StoredObject[] | undefined;
  readonly record: (change: Change) => void;
  /** Puts these objects in place of all others, as of a version. Whoever watches hears nothing of it. */
  readonly reset: (to: readonly StoredObject[], version: number) => void;
  readonly history: History;
}

/** @param namespace undefined for cluster-scoped objects */
export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export const keyOfObject = ({ metadata }: StoredObject): string => keyOf(metadata.namespace, metadata.name);

export function createCollection(from: number, historyLimit: number): Collection {
  const objects = new Map<string, StoredObject>();
  let history = createHistory(from, historyLimit);
  let sorted: readonly StoredObject[] | undefined;
  return {
    get: (key) => objects.get(key),
    all: () => (sorted ??= inOrder(objects)),
    allAt(version) {
      const undone = history.since(version);
      if (undone === undefined) return undefined;
      if (undone.length === 0) return (sorted ??= inOrder(objects));
      const then = new Map(objects);
      for (const { object, before } of undone.toReversed()) {
        if (before === null) then.delete(keyOfObject(object));
        else then.set(keyOfObject(object), before);
      }
      return inOrder(then);
    },
    record(change) {
      if (change.type === 'DELETED') objects.delete(keyOfObject(change.object));
      else objects.set(keyOfObject(change.object), change.object);
      sorted = undefined;
      history.add(change);
    },
    reset(to, version) {
      objects.clear();
      for (const object of to) objects.set(keyOfObject(object), object);
      sorted = undefined;
      history = createHistory(version, historyLimit);
    },
    get history() {
      return history;
    },
  };
}

const inOrder = (objects: ReadonlyMap<string, StoredObject>): readonly StoredObject[] =>
  [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
