import type { Millis } from '#shared/runtime/clock.ts';
import type { Json, StoredObject } from '#sandbox/api-server/stored-object.ts';
import type { Column } from '#sandbox/api-server/table/column.ts';

/** What of the object goes with its row: kubectl asks for metadata, or for all of it to sort by a field. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** `meta.k8s.io/v1` PartialObjectMetadata. */
const metadataOnly = ({ metadata }: StoredObject): Json => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

/** `meta.k8s.io/v1` Table: what kubectl prints. */
export function tableOf(
  objects: readonly StoredObject[],
  columns: readonly Column[],
  { metadata, include, now }: { readonly metadata: Json; readonly include: IncludeObject; readonly now: Millis },
): Json {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(({ definition }) => definition),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: included(object, include),
    })),
  };
}

function included(object: StoredObject, include: IncludeObject): Json | null {
  switch (include) {
    case 'None':
      return null;
    case 'Metadata':
      return metadataOnly(object);
    case 'Object':
      return object;
  }
}
