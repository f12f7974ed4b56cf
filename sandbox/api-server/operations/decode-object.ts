import { apiVersionOf } from '#sandbox/api-server/resources/registry.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { OBJECT_META } from '#sandbox/api-server/schema/object-meta.ts';
import { pruneAndDefault } from '#sandbox/api-server/schema/prune-and-default.ts';
import { createValidator, type Validate } from '#sandbox/api-server/schema/validator.ts';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';
import { badRequest, invalid, patchUnreadable } from '#sandbox/api-server/status/status-refusals.ts';
import { isJson, type Json } from '#sandbox/api-server/stored-object.ts';

/** An object as it was sent, reduced to the fields that the server knows; `metadata` is there and of the right types. */
export interface Decoded extends Json {
  readonly metadata: Json;
}

const validateMeta: Validate = createValidator({ type: 'object', properties: { metadata: OBJECT_META } });

/**
 * Reads an object of a resource.
 *
 * @param from its place: as the body, or as the result of a patch
 * @throws Refusal 400 or, for a patch, 422 if the server could not hold it in its types
 */
export function decodeObject(served: ServedResource, value: unknown, from: 'body' | 'patch'): Decoded {
  const { kind, version } = served.resource;
  const unreadable = (why: string): Error =>
    from === 'patch'
      ? patchUnreadable(why)
      : badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
  if (!isJson(value)) throw unreadable('the object is no JSON object');
  requireType(served, value, from, unreadable);
  const shaped = pruneAndDefault(value, served.schema) as Json;
  const object: Decoded = { ...shaped, metadata: isJson(shaped['metadata']) ? shaped['metadata'] : {} };
  const [first] = served.origin === 'custom' ? validateMeta(shaped) : served.validate(shaped);
  if (first !== undefined) throw unreadable(`${first.field}: ${first.message}`);
  return object;
}

function requireType(
  served: ServedResource,
  object: Json,
  from: 'body' | 'patch',
  unreadable: (why: string) => Error,
): void {
  const { resource, origin } = served;
  const expected = apiVersionOf(resource);
  const { apiVersion, kind } = object;
  if (typeof kind !== 'string' || kind === '') throw unreadable("Object 'Kind' is missing");
  if (apiVersion !== expected && from === 'body') {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  if (apiVersion === expected && kind === resource.kind) return;
  if (origin === 'built-in') throw unreadable(`the object is a ${String(apiVersion)} ${kind}`);
  const [field, value, must] =
    kind === resource.kind ? ['apiVersion', apiVersion, expected] : ['kind', kind, resource.kind];
  const cause: Cause = {
    reason: 'FieldValueInvalid',
    message: `Invalid value: "${String(value)}": must be ${must}`,
    field,
  };
  const name = isJson(object['metadata']) ? object['metadata']['name'] : undefined;
  throw invalid({ ...resource, kind }, typeof name === 'string' ? name : '', [cause]);
}
