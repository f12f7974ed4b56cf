import { toTimestamp } from '#shared/runtime/clock.ts';
import type { Api } from '#sandbox/api-server/api.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '#sandbox/api-server/resources/built-in.ts';
import { isJson, memberOf, type StoredObject, without } from '#sandbox/api-server/stored-object.ts';

/**
 * Serves the resource of a definition that was made or changed, and says so in its status. The real server takes a
 * moment for that; a client that waits for the condition `Established` is right with both.
 */
export function registerDefinition(api: Api, definition: StoredObject): StoredObject {
  const served = api.registry.define(definition);
  // Its history begins now: versions from before cannot be watched from.
  api.store.of(served.resource);
  if (isEstablished(definition)) return definition;
  const metadata = without(definition.metadata, 'resourceVersion');
  const condition = (type: string, reason: string, message: string): object => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime: toTimestamp(api.now()),
  });
  const status = {
    acceptedNames: memberOf(definition, 'spec', 'names'),
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
    storedVersions: [served.resource.version],
  };
  return api.store.put(CUSTOM_RESOURCE_DEFINITIONS, { ...definition, metadata, status });
}

function isEstablished(definition: StoredObject): boolean {
  const conditions = memberOf(definition, 'status', 'conditions');
  return (
    Array.isArray(conditions) &&
    conditions.filter(isJson).some(({ type, status }) => type === 'Established' && status === 'True')
  );
}
