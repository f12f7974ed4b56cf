import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

/** One write. A deletion has a version of its own, as in etcd. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  /** As written; of a deletion the last state, with the deletion's resourceVersion. */
  readonly object: StoredObject;
  /** As it was; null of an addition. */
  readonly before: StoredObject | null;
}

/** The newest changes of one collection, in order: what a watch may go on from. */
export interface History {
  /** Changes up to and including this version are forgotten. */
  readonly forgottenTo: () => number;
  readonly add: (change: Change) => void;
  /** All changes after a version; undefined where some of them are forgotten. */
  readonly since: (version: number) => readonly Change[] | undefined;
  readonly forgetTo: (version: number) => void;
  readonly newest: () => number;
}

/**
 * @param from  version from which on the history is complete
 * @param limit number of changes that are kept at least
 */
export function createHistory(from: number, limit: number): History {
  let forgottenTo = from;
  let changes: Change[] = [];
  const forgetTo = (version: number): void => {
    changes = changes.filter((change) => change.version > version);
    forgottenTo = Math.max(forgottenTo, version);
  };
  return {
    forgottenTo: () => forgottenTo,
    add(change) {
      changes.push(change);
      // In one go now and then: dropping one at a time would copy the list for every write.
      if (changes.length >= 2 * limit) forgetTo(changes[changes.length - limit - 1]?.version ?? forgottenTo);
    },
    since(version) {
      if (version < forgottenTo) return undefined;
      const first = changes.findLastIndex((change) => change.version <= version) + 1;
      return changes.slice(first);
    },
    forgetTo,
    newest: () => changes.at(-1)?.version ?? 0,
  };
}
