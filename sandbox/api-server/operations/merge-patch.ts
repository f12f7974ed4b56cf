import type { Api, NamedTarget } from '#sandbox/api-server/api.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { replace } from '#sandbox/api-server/operations/replace.ts';
import type { SentPatch } from '#sandbox/api-server/request/request-body.ts';
import { badRequest, invalid, notFound, noSuchStrategy } from '#sandbox/api-server/status/status-refusals.ts';
import { keyOf } from '#sandbox/api-server/store/collection.ts';
import { isJson, type StoredObject } from '#sandbox/api-server/stored-object.ts';

/**
 * PATCH with a merge patch. A patch that names a resourceVersion is refused where the object has another one; one
 * that does not applies to whatever is there.
 *
 * @throws Refusal
 */
export function mergePatch(api: Api, target: NamedTarget, { body, strategic }: SentPatch): StoredObject {
  const { served, namespace, name } = target;
  const before = api.store.of(served.resource).get(keyOf(namespace, name));
  if (before === undefined) throw notFound(served.resource, name);
  if (!isJson(body)) throw badRequest('Invalid JSON Patch');
  const patch = strategic ? asMergePatch(before, body) : body;
  if (patch === undefined) throw noSuchStrategy();
  const sent = decodeObject(served, applyMergePatch(before, patch), 'patch');
  const { uid } = sent.metadata;
  if (uid !== undefined && uid !== before.metadata.uid) {
    const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
    throw invalid(served.resource, name, [{ reason: 'FieldValueInvalid', message, field: 'metadata.uid' }]);
  }
  return replace(api, target, before, sent);
}

/** RFC 7396: null removes, objects are merged, everything else replaces. */
function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const merged: Record<string, unknown> = isJson(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = applyMergePatch(merged[key], value);
  }
  return merged;
}

/**
 * A strategic merge patch, as far as the sandbox has it: lists of conditions are merged by `type`, an element with
 * `$patch: delete` takes its namesake away.
 *
 * @returns the same as a merge patch; undefined where the patch has another list or another directive
 */
function asMergePatch(target: unknown, patch: unknown, member = ''): unknown {
  if (Array.isArray(patch)) return member === 'conditions' ? mergeByType(target, patch) : undefined;
  if (!isJson(patch)) return patch;
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(patch)) {
    const below = asMergePatch(isJson(target) ? target[key] : undefined, value, key);
    if (key.startsWith('$') || below === undefined) return undefined;
    plain[key] = below;
  }
  return plain;
}

function mergeByType(target: unknown, patch: readonly unknown[]): readonly unknown[] {
  const merged = new Map((Array.isArray(target) ? target : []).filter(isJson).map((each) => [each['type'], each]));
  for (const each of patch.filter(isJson)) {
    if (each['$patch'] === 'delete') merged.delete(each['type']);
    else merged.set(each['type'], { ...merged.get(each['type']), ...each });
  }
  return [...merged.values()];
}
