import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';
import { type Json, memberOf, type StoredObject, textAt } from '#sandbox/api-server/stored-object.ts';
import { ageOf } from '#sandbox/api-server/table/age.ts';
import { type Column, column } from '#sandbox/api-server/table/column.ts';

const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

/** By what Events can be selected (kubernetes/pkg/registry/core/event/strategy.go). @param about the member that names what it is about */
export const eventFields = (
  about: 'involvedObject' | 'regarding',
): Readonly<Record<string, (event: StoredObject) => string>> => ({
  ...Object.fromEntries(REFERENCE.map((field) => [`${about}.${field}`, (event: Json) => textAt(event, about, field)])),
  reason: (event) => textAt(event, 'reason'),
  type: (event) => textAt(event, 'type'),
});

const lastSeen = (event: Json): unknown =>
  memberOf(event, 'series', 'lastObservedTime') ??
  event['lastTimestamp'] ??
  event['deprecatedLastTimestamp'] ??
  event['eventTime'];

/** What `kubectl get events` prints, without the wide columns (kubernetes/pkg/printers/internalversion). */
export function eventColumns(about: 'involvedObject' | 'regarding', message: 'message' | 'note'): readonly Column[] {
  const object = (event: Json): string =>
    `${textAt(event, about, 'kind').toLowerCase()}/${textAt(event, about, 'name')}`;
  return [
    column('Last Seen', (event, now) => ageOf(lastSeen(event), now)),
    column('Type', (event) => textAt(event, 'type')),
    column('Reason', (event) => textAt(event, 'reason')),
    column('Object', object),
    column('Message', (event) => textAt(event, message).trim()),
  ];
}

/** Events about cluster-scoped objects belong in the namespace `default`. */
export function checkEvent(event: Json): readonly Cause[] {
  return checkNamespace(event, 'involvedObject', ['default']);
}

const NEEDED = ['eventTime', 'reportingController', 'reportingInstance', 'action', 'reason', 'type'] as const;

/** By their names in `events.k8s.io/v1`, with those by which the server's messages call them. */
const UNCHANGING = {
  regarding: 'involvedObject',
  reason: 'reason',
  note: 'message',
  type: 'type',
  eventTime: 'eventTime',
  action: 'action',
  related: 'related',
  reportingController: 'reportingController',
  reportingInstance: 'reportingInstance',
} as const;

/**
 * ValidateEventCreate and ValidateEventUpdate of kubernetes/pkg/apis/core/validation/events.go, for `events.k8s.io/v1` since 1.23: only
 * its series changes.
 */
export function checkNewerEvent(event: Json, before: Json | undefined): readonly Cause[] {
  if (before !== undefined) {
    return Object.entries(UNCHANGING).flatMap(([name, field]): readonly Cause[] =>
      isDeepStrictEqual(event[name], before[name])
        ? []
        : [
            {
              reason: 'FieldValueInvalid',
              message: `Invalid value: ${JSON.stringify(event[name])}: field is immutable`,
              field,
            },
          ],
    );
  }
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
