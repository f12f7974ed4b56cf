import type { Resource } from '#shared/kube/kube.ts';
import { keyOfObject } from '#sandbox/api-server/store/collection.ts';
import type { Change } from '#sandbox/api-server/store/change-history.ts';
import { collectionId } from '#sandbox/api-server/store/resource-store.ts';

/** One watch of a client. */
export interface Watcher {
  readonly heard: (change: Change) => void;
  /** The watch is over: in order, or as if the connection had broken. */
  readonly end: (how: 'closed' | 'reset') => void;
  /** Says how far it has seen, where that was asked for. */
  readonly bookmark: () => void;
}

/** Brings changes to those who watch. A watcher of one object costs nothing when another object changes. */
export interface WatchHub {
  /** @param key of the only object that is watched; undefined for all of the resource @returns leaves */
  readonly join: (resource: Resource, key: string | undefined, watcher: Watcher) => () => void;
  readonly publish: (resource: Resource, change: Change) => void;
  readonly all: () => readonly Watcher[];
}

const EVERY = '*';

export function createWatchHub(): WatchHub {
  /** By resource, then by key. */
  const rooms = new Map<string, Map<string, Set<Watcher>>>();
  const watchers = new Set<Watcher>();
  return {
    join(resource, key = EVERY, watcher) {
      const room = rooms.get(collectionId(resource)) ?? new Map<string, Set<Watcher>>();
      rooms.set(collectionId(resource), room);
      const present = room.get(key) ?? new Set<Watcher>();
      room.set(key, present.add(watcher));
      watchers.add(watcher);
      return () => {
        present.delete(watcher);
        watchers.delete(watcher);
        if (present.size === 0) room.delete(key);
      };
    },
    publish(resource, change) {
      const room = rooms.get(collectionId(resource));
      for (const key of [EVERY, keyOfObject(change.object)]) {
        for (const watcher of room?.get(key) ?? []) watcher.heard(change);
      }
    },
    all: () => [...watchers],
  };
}
