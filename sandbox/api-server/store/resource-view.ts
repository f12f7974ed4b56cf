import type { Resource } from '#shared/kube/kube.ts';
import type { Collection } from '#sandbox/api-server/store/collection.ts';
import type { Change, History } from '#sandbox/api-server/store/change-history.ts';
import type { Draft, StoredObject } from '#sandbox/api-server/stored-object.ts';

/** A resource whose objects are kept as those of another one: as Events of two API groups are the same Events. */
export interface ResourceView {
  readonly resource: Resource;
  /** As which they are kept. */
  readonly keptAs: Resource;
  readonly shown: (kept: StoredObject) => StoredObject;
  readonly kept: (shown: Draft) => Draft;
}

/** What may be read of a collection; only the store writes. */
export type Readable = Omit<Collection, 'record' | 'reset' | 'history'> & {
  readonly history: Pick<History, 'forgottenTo' | 'since' | 'newest'>;
};

/** A collection in the form of a view. */
export function throughView({ shown }: ResourceView, { get, all, allAt, history }: Collection): Readable {
  return {
    get(key) {
      const object = get(key);
      return object === undefined ? undefined : shown(object);
    },
    all: () => all().map(shown),
    allAt: (version) => allAt(version)?.map(shown),
    history: { ...history, since: (version) => history.since(version)?.map((change) => changeAs(shown, change)) },
  };
}

export const changeAs = (shown: ResourceView['shown'], change: Change): Change => ({
  ...change,
  object: shown(change.object),
  before: change.before === null ? null : shown(change.before),
});
