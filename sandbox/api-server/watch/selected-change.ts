import type { Selection } from '#sandbox/api-server/selectors/selection.ts';
import type { Change } from '#sandbox/api-server/store/change-history.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

export interface SelectedChange {
  readonly type: Change['type'];
  readonly object: StoredObject;
}

/**
 * A change as a watch of a selection sees it: what comes into the selection is added, what leaves it is deleted (as it
 * last was, under the new version); undefined where neither state is part of it.
 */
export function changeForSelection({ matches }: Selection, change: Change): SelectedChange | undefined {
  const { object, before } = change;
  const wasIn = before !== null && matches(before);
  if (change.type === 'DELETED') return wasIn ? { type: 'DELETED', object } : undefined;
  const isIn = matches(object);
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', object };
  if (!wasIn) return undefined;
  const { resourceVersion } = object.metadata;
  return { type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion } } };
}
