import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '#shared/contract/api/object.ts';
import type { Api, NamedTarget } from '#sandbox/api-server/api.ts';
import { create } from '#sandbox/api-server/operations/create.ts';
import { type Decoded, decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { registerDefinition } from '#sandbox/api-server/operations/register-definition.ts';
import { validateObject } from '#sandbox/api-server/operations/validate-object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '#sandbox/api-server/resources/built-in.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import {
  badRequest,
  conflict,
  invalid,
  notFound,
  STALE,
  unclassified,
} from '#sandbox/api-server/status/status-refusals.ts';
import { keyOf } from '#sandbox/api-server/store/collection.ts';
import { type Draft, type StoredObject, without } from '#sandbox/api-server/stored-object.ts';

/** PUT. @throws Refusal */
export function update(
  api: Api,
  target: NamedTarget,
  body: unknown,
): { readonly object: StoredObject; readonly created: boolean } {
  const { served, namespace, name } = target;
  const sent = decodeObject(served, body, 'body');
  requireSamePlace(target, sent);
  const before = api.store.of(served.resource).get(keyOf(namespace, name));
  if (before === undefined) {
    if (!served.createOnUpdate || target.subresource !== undefined) throw notFound(served.resource, name);
    return { object: create(api, target, body), created: true };
  }
  const { uid, resourceVersion } = sent.metadata as Partial<ObjectMeta>;
  if ((uid ?? '') !== '' && uid !== before.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`;
    throw conflict(served.resource, name, `StorageError: invalid object, Code: 4, AdditionalErrorMsg: ${why}`);
  }
  if ((resourceVersion ?? '') === '' && !served.unconditionalUpdate) {
    const message = 'Invalid value: 0x0: must be specified for an update';
    throw invalid(
      served.resource,
      name,
      [{ reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }],
      'plural',
    );
  }
  return { object: replace(api, target, before, sent), created: false };
}

/**
 * Writes what was sent over what is there, unless another writer was quicker. Nothing is written if nothing differs.
 *
 * @throws Refusal
 */
export function replace(api: Api, target: NamedTarget, before: StoredObject, sent: Decoded): StoredObject {
  const { served } = target;
  requireSamePlace(target, sent);
  requireVersion(target, before, (sent.metadata as Partial<ObjectMeta>).resourceVersion ?? '');
  const unchanged: Draft = { ...before, metadata: without(before.metadata, 'resourceVersion') };
  const draft = combine(target, unchanged, sent);
  validateObject(served, draft, before);
  if (isDeepStrictEqual(draft, unchanged)) return before;
  const object = api.store.put(served.resource, countGeneration(served, unchanged, draft));
  return served.resource === CUSTOM_RESOURCE_DEFINITIONS ? registerDefinition(api, object) : object;
}

/** The object itself must not say that it is another one. */
function requireSamePlace({ name, namespace }: NamedTarget, { metadata }: Decoded): void {
  const said = metadata as Partial<ObjectMeta>;
  if ((said.name ?? '') === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (said.name !== name) {
    throw badRequest(`the name of the object (${said.name}) does not match the name on the URL (${name})`);
  }
  if (namespace !== undefined && (said.namespace ?? '') !== '' && said.namespace !== namespace) {
    throw badRequest(
      `the namespace of the object (${said.namespace}) does not match the namespace on the URL (${namespace})`,
    );
  }
}

function requireVersion({ served, name }: NamedTarget, before: StoredObject, version: string): void {
  if (version === '') return;
  if (!/^\d+$/.test(version)) throw unclassified(`strconv.ParseUint: parsing "${version}": invalid syntax`);
  if (version !== before.metadata.resourceVersion) throw conflict(served.resource, name, STALE);
}

/**
 * Keeps apart what belongs to the object and what to its status: through each of the two doors only its own part
 * changes. Metadata comes in by the main door, and for built-in types by the status door as well.
 */
function combine({ served, subresource }: NamedTarget, before: Draft, sent: Decoded): Draft {
  const { apiVersion, kind } = before;
  const metadata = keepSystemFields(before.metadata, sent.metadata);
  if (subresource === 'status') {
    const ours = served.origin === 'custom' ? before.metadata : metadata;
    return withStatus({ ...without(before, 'status'), apiVersion, kind, metadata: ours }, sent['status']);
  }
  const status = served.statusSubresource ? before['status'] : sent['status'];
  return withStatus({ ...without(sent, 'status'), apiVersion, kind, metadata }, status);
}

const withStatus = (draft: Draft, status: unknown): Draft => (status === undefined ? draft : { ...draft, status });

function keepSystemFields(
  before: Draft['metadata'],
  { labels, annotations, ownerReferences }: Partial<ObjectMeta>,
): Draft['metadata'] {
  return {
    ...without(before, 'labels', 'annotations', 'ownerReferences'),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
}

/** A custom object's generation counts the changes of what is neither metadata nor status. */
function countGeneration({ origin, statusSubresource }: ServedResource, before: Draft, draft: Draft): Draft {
  if (origin !== 'custom') return draft;
  const essence = (object: Draft): unknown =>
    statusSubresource ? without(object, 'metadata', 'status') : without(object, 'metadata');
  if (isDeepStrictEqual(essence(before), essence(draft))) return draft;
  return { ...draft, metadata: { ...draft.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
}
