import { checkMetadata } from '#sandbox/api-server/operations/metadata-rules.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { invalid } from '#sandbox/api-server/status/status-refusals.ts';
import type { Draft, StoredObject } from '#sandbox/api-server/stored-object.ts';

/**
 * The last word on an object before it is written.
 *
 * @throws Refusal 422 with all that is wrong
 */
export function validateObject(served: ServedResource, draft: Draft, before: StoredObject | undefined): void {
  const causes = [
    ...checkMetadata(served, draft.metadata),
    ...(served.origin === 'custom' ? served.validate(draft) : []),
    ...served.check(draft, before),
  ];
  if (causes.length > 0) throw invalid(served.resource, draft.metadata.name, causes);
}
