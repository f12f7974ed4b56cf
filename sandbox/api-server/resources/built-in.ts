import {
  clusterWide,
  CONFIG_MAPS,
  EVENTS as NEWER_EVENTS,
  LEASES,
  namespaced,
  NODES,
  PODS,
  type Resource,
} from '#shared/kube/kube.ts';
import { checkConfigMap } from '#sandbox/api-server/resources/config-map-rules.ts';
import { EVENTS } from '#sandbox/api-server/resources/event-views.ts';
import { checkEvent, checkNewerEvent, eventColumns, eventFields } from '#sandbox/api-server/resources/event.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { withTypeAndMeta } from '#sandbox/api-server/schema/object-meta.ts';
import { ANYTHING, type Schema, TEXT, TEXTS } from '#sandbox/api-server/schema/structural.ts';
import { createValidator } from '#sandbox/api-server/schema/validator.ts';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';
import { type Json, memberOf, textAt } from '#sandbox/api-server/stored-object.ts';
import { NODE_COLUMNS } from '#sandbox/api-server/resources/node-columns.ts';
import { AGE_COLUMN, NAME_COLUMN } from '#sandbox/api-server/table/column.ts';

export const NAMESPACES = clusterWide('v1', 'Namespace');
const SERVICE_ACCOUNTS = namespaced('v1', 'ServiceAccount');
/** What evictions ask. `status.disruptionsAllowed` is a controller's to compute; here the test or the demo sets it. */
export const POD_DISRUPTION_BUDGETS = namespaced('policy/v1', 'PodDisruptionBudget');
/** What runs in a cluster, as far as we read it: no controller makes pods of it here. */
export const DEPLOYMENTS = namespaced('apps/v1', 'Deployment');
export const DAEMON_SETS = namespaced('apps/v1', 'DaemonSet');
const SERVICES = namespaced('v1', 'Service');
export const CUSTOM_RESOURCE_DEFINITIONS = clusterWide('apiextensions.k8s.io/v1', 'CustomResourceDefinition');

const SPEC_AND_STATUS: Schema = { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } };

const CONFIG_MAP: Schema = {
  type: 'object',
  properties: { data: TEXTS, binaryData: TEXTS, immutable: { type: 'boolean' } },
};

const MICRO_TIME: Schema = { type: 'string', format: 'micro-time' };
const LEASE: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        holderIdentity: TEXT,
        leaseDurationSeconds: { type: 'integer' },
        acquireTime: MICRO_TIME,
        renewTime: MICRO_TIME,
        leaseTransitions: { type: 'integer' },
      },
    },
  },
};

/** The built-in resources that the project meets, and no others. */
export const BUILT_IN: readonly ServedResource[] = [
  builtIn(NODES, SPEC_AND_STATUS, { shortNames: ['no'], statusSubresource: true, columns: NODE_COLUMNS }),
  builtIn(NAMESPACES, SPEC_AND_STATUS, {
    shortNames: ['ns'],
    statusSubresource: true,
  }),
  builtIn(PODS, SPEC_AND_STATUS, {
    shortNames: ['po'],
    statusSubresource: true,
    selectable: {
      'spec.nodeName': (object) => textAt(object, 'spec', 'nodeName'),
      'status.phase': (object) => textAt(object, 'status', 'phase'),
    },
  }),
  builtIn(POD_DISRUPTION_BUDGETS, SPEC_AND_STATUS, { shortNames: ['pdb'], statusSubresource: true }),
  builtIn(DEPLOYMENTS, SPEC_AND_STATUS, { shortNames: ['deploy'], statusSubresource: true }),
  builtIn(DAEMON_SETS, SPEC_AND_STATUS, { shortNames: ['ds'], statusSubresource: true }),
  builtIn(SERVICES, SPEC_AND_STATUS, { shortNames: ['svc'], statusSubresource: true }),
  builtIn(CONFIG_MAPS, CONFIG_MAP, {
    shortNames: ['cm'],
    check: checkConfigMap,
  }),
  builtIn(EVENTS, ANYTHING, {
    shortNames: ['ev'],
    check: checkEvent,
    columns: eventColumns('involvedObject', 'message'),
    selectable: eventFields('involvedObject'),
  }),
  builtIn(NEWER_EVENTS, ANYTHING, {
    shortNames: ['ev'],
    check: checkNewerEvent,
    columns: eventColumns('regarding', 'note'),
    selectable: eventFields('regarding'),
  }),
  builtIn(SERVICE_ACCOUNTS, ANYTHING, { shortNames: ['sa'] }),
  builtIn(LEASES, LEASE, {
    check: checkLease,
    unconditionalUpdate: false,
    createOnUpdate: true,
  }),
  builtIn(CUSTOM_RESOURCE_DEFINITIONS, SPEC_AND_STATUS, {
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    statusSubresource: true,
    unconditionalUpdate: false,
  }),
];

function builtIn(resource: Resource, rest: Schema, traits: Partial<ServedResource>): ServedResource {
  const schema = withTypeAndMeta(rest);
  return {
    resource,
    // Built-in resources had none before 1.27.
    singular: '',
    listKind: `${resource.kind}List`,
    shortNames: [],
    categories: [],
    schema,
    validate: createValidator(schema),
    check: () => [],
    origin: 'built-in',
    statusSubresource: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    columns: [NAME_COLUMN, AGE_COLUMN],
    selectable: {},
    ...traits,
  };
}

function checkLease(lease: Json): readonly Cause[] {
  const seconds = memberOf(lease, 'spec', 'leaseDurationSeconds');
  if (typeof seconds !== 'number' || seconds > 0) return [];
  const field = 'spec.leaseDurationSeconds';
  return [{ reason: 'FieldValueInvalid', message: `Invalid value: ${seconds}: must be greater than 0`, field }];
}
