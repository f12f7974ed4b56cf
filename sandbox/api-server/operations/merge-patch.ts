import type { Api, NamedTarget } from '#sandbox/api-server/operations/api.ts';
import { decode } from '#sandbox/api-server/operations/decode.ts';
import { replace } from '#sandbox/api-server/operations/replace.ts';
import { badRequest, invalid, notFound } from '#sandbox/api-server/status/refusals.ts';
import { keyOf } from '#sandbox/api-server/store/collection.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';
import { isJson } from '#sandbox/api-server/stored-object.ts';

/**
 * PATCH with a JSON merge patch. A patch that names a resourceVersion is refused where the object has another one; one
 * that does not applies to whatever is there.
 *
 * @throws Refusal
 */
export function mergePatch(api: Api, target: NamedTarget, patch: unknown): StoredObject {
  const { served, namespace, name } = target;
  const before = api.store.of(served.resource).get(keyOf(namespace, name));
  if (before === undefined) throw notFound(served.resource, name);
  if (!isJson(patch)) throw badRequest('Invalid JSON Patch');
  const sent = decode(served, applyMergePatch(before, patch), 'patch');
  const { uid } = sent.metadata;
  if (uid !== undefined && uid !== before.metadata.uid) {
    const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
    throw invalid(served.resource, name, [{ reason: 'FieldValueInvalid', message, field: 'metadata.uid' }]);
  }
  return replace(api, target, before, sent);
}

/** RFC 7396: null removes, objects are merged, everything else replaces. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const merged: Record<string, unknown> = isJson(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = applyMergePatch(merged[key], value);
  }
  return merged;
}

/** Whether a strategic merge patch means the same as a merge patch: it has no list and no directive. */
export function isPlainPatch(patch: unknown): boolean {
  if (Array.isArray(patch)) return false;
  if (!isJson(patch)) return true;
  return Object.entries(patch).every(([key, value]) => !key.startsWith('$') && isPlainPatch(value));
}
