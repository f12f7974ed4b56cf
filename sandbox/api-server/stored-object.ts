import type { KubeObject, ObjectMeta } from '#shared/contract/api/object.ts';

/** JSON as it came over the wire. */
export type Json = Readonly<Record<string, unknown>>;

/** An object as the server keeps it: complete system fields, never changed in place. */
export interface StoredObject extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta & {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
  readonly [field: string]: unknown;
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy that lacks some members. */
export function without<T extends object, K extends keyof T>(object: T, ...keys: readonly K[]): Omit<T, K> {
  const copy = { ...object };
  for (const key of keys) delete copy[key];
  return copy;
}

/** A member of a JSON object, or undefined where the value is none or lacks it. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isJson(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** A text in a JSON object; empty where there is none. */
export function textAt(object: Json, ...path: readonly string[]): string {
  const value = memberOf(object, ...path);
  return typeof value === 'string' ? value : '';
}

/** An object that is about to be written: everything but its resourceVersion. */
export type Draft = Omit<StoredObject, 'metadata'> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Omit<StoredObject['metadata'], 'resourceVersion'>;
};
