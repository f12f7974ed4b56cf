import type { Cause } from '#sandbox/api-server/status/refusal.ts';
import type { Json } from '#sandbox/api-server/stored-object.ts';
import { memberOf } from '#sandbox/api-server/stored-object.ts';

/** Events about cluster-scoped objects belong in the namespace `default`. */
export function checkEvent(event: Json): readonly Cause[] {
  return checkNamespace(event, 'involvedObject', ['default']);
}

const NEEDED = ['eventTime', 'reportingController', 'reportingInstance', 'action', 'reason', 'type'] as const;

/** ValidateEventCreate of kubernetes/pkg/apis/core/validation/events.go, for `events.k8s.io/v1` since 1.23. */
export function checkNewerEvent(event: Json, before: Json | undefined): readonly Cause[] {
  if (before !== undefined) return [];
  const missing = NEEDED.flatMap((field) => checkNeeded(event, field));
  return [...missing, ...checkNote(event), ...checkNamespace(event, 'regarding', ['default', 'kube-system'])];
}

function checkNamespace(event: Json, reference: string, forClusterScoped: readonly string[]): readonly Cause[] {
  const about = memberOf(event, reference, 'namespace') ?? '';
  const namespace = memberOf(event, 'metadata', 'namespace');
  if (about === namespace || (about === '' && forClusterScoped.includes(String(namespace)))) return [];
  const message = `Invalid value: ${JSON.stringify(about)}: does not match event.namespace`;
  return [{ reason: 'FieldValueInvalid', message, field: 'involvedObject.namespace' }];
}

function checkNeeded(event: Json, field: string): readonly Cause[] {
  const value = event[field];
  if (typeof value === 'string' && value !== '') return [];
  return [{ reason: 'FieldValueRequired', message: 'Required value', field }];
}

function checkNote({ note }: Json): readonly Cause[] {
  if (typeof note !== 'string' || Buffer.byteLength(note) <= 1024) return [];
  return [{ reason: 'FieldValueInvalid', message: 'Invalid value: "": can have at most 1024 bytes', field: 'message' }];
}
