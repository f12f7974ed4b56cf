import { GitopsError } from '#shared/runtime/errors.ts';

/** A value together with its own type: what D-Bus calls a variant. */
export interface Variant {
  readonly signature: string;
  readonly value: DBusValue;
}

/**
 * D-Bus values in JavaScript: `x` and `t` (64 bits) are bigint, the other numbers number; `ay` is bytes; `a{..}` a Map;
 * other arrays and structs are arrays.
 */
export type DBusValue =
  | number
  | bigint
  | boolean
  | string
  | Uint8Array
  | Variant
  | readonly DBusValue[]
  | ReadonlyMap<DBusValue, DBusValue>;

/** The other side, or a caller, gave something else than the type says. */
export function mismatch(expected: string, got: unknown): GitopsError {
  return new GitopsError('BUS_PROTOCOL', `the message bus was to carry ${expected}, not ${describe(got)}`);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return value instanceof Map ? 'a map' : typeof value;
}
