import type { Resource } from '#shared/kube/kube.ts';
import type { Schema } from '#sandbox/api-server/schema/structural.ts';
import type { Validate } from '#sandbox/api-server/schema/validator.ts';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';
import type { Json, StoredObject } from '#sandbox/api-server/stored-object.ts';
import type { Column } from '#sandbox/api-server/table/column.ts';

/** A resource with all that the server has to know to serve it. */
export interface ServedResource {
  readonly resource: Resource;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Of the whole object. */
  readonly schema: Schema;
  readonly validate: Validate;
  /** What no schema can say: rules between fields, and between the object before and after. */
  readonly check: (object: Json, before: Json | undefined) => readonly Cause[];
  /**
   * Objects of built-in types are decoded into Go structs: a field of the wrong type is a bad request, and the status
   * of a new object is taken as it is. Custom ones are judged by their schema, count generations, and start without a
   * status.
   */
  readonly origin: 'built-in' | 'custom';
  readonly statusSubresource: boolean;
  /** Whether a PUT may leave out the resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** Whether a PUT to a name that is not there creates the object. */
  readonly createOnUpdate: boolean;
  readonly columns: readonly Column[];
  /** What it can be selected by besides name and namespace: `spec.nodeName`. */
  readonly selectable: Readonly<Record<string, (object: StoredObject) => string>>;
}
