import type { Target } from '#sandbox/api-server/api.ts';
import { parseFieldSelector } from '#sandbox/api-server/selectors/field-selector.ts';
import { parseLabelSelector } from '#sandbox/api-server/selectors/label-selector.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

/** Which objects of a resource a list or a watch is about. */
export interface Selection {
  readonly matches: (object: StoredObject) => boolean;
  /** Key of the only object that can match, where name and place are given. */
  readonly key: string | undefined;
  /** Whether labels or fields narrow it. */
  readonly narrowed: boolean;
}

/** @throws Refusal 400 for a selector that cannot be read */
export function selectionOf({ served, namespace }: Target, query: URLSearchParams): Selection {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  const labels = parseLabelSelector(labelText);
  const fields = parseFieldSelector(fieldText, served.selectable);
  const placed = served.resource.namespaced ? namespace : '';
  return {
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      fields.matches(object) &&
      labels(object.metadata.labels ?? {}),
    key:
      fields.name === undefined || placed === undefined
        ? undefined
        : `${placed === '' ? '' : `${placed}/`}${fields.name}`,
    narrowed: labelText !== '' || fieldText !== '',
  };
}
