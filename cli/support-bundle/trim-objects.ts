import { GROUP, PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { SETTINGS } from '../doctor/installation.generated.ts';
import { REDACTED } from '#shared/runtime/redact.ts';
import { redactValue } from './redact-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is kept of an object; everything else stays in the cluster. */
export type BundleTrim = (object: KubeObject) => Fields;

/** Annotations of others may hold anything, and so may what the API server keeps about writers. */
function metadataOf({ metadata }: KubeObject): Fields {
  const { name, namespace, uid, generation, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(`${GROUP}/`));
  return {
    name,
    namespace,
    uid,
    generation,
    resourceVersion,
    creationTimestamp,
    deletionTimestamp,
    labels: metadata.labels,
    annotations: annotations.length === 0 ? undefined : Object.fromEntries(annotations),
    ownerReferences: metadata.ownerReferences,
  };
}

const pick = (value: unknown, ...keys: readonly string[]): Fields =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)))
    : {};

const trimmed = (object: KubeObject, more: Fields): Fields =>
  redactValue({ metadata: metadataOf(object), ...more }) as Fields;

const part = (object: KubeObject, name: 'spec' | 'status' | 'data'): unknown => (object as unknown as Fields)[name];

/** Our own kinds: of them the API server keeps nothing but what their definitions name. */
export const ofOurs: BundleTrim = (object) => trimmed(object, pick(object, 'spec', 'status'));

export const ofConfigSource: BundleTrim = (object) =>
  trimmed(object, { ...pick(object, 'immutable'), data: pick(part(object, 'data'), PAYLOAD_KEY) });

export const ofLease: BundleTrim = (object) =>
  trimmed(object, {
    spec: pick(
      part(object, 'spec'),
      'holderIdentity',
      'leaseDurationSeconds',
      'acquireTime',
      'renewTime',
      'leaseTransitions',
    ),
  });

export const ofService: BundleTrim = (object) =>
  trimmed(object, { spec: pick(part(object, 'spec'), 'type', 'ports', 'selector', 'clusterIP', 'ipFamilies') });

export const ofEvent: BundleTrim = (object) =>
  trimmed(
    object,
    pick(
      object,
      'eventTime',
      'reportingController',
      'reportingInstance',
      'action',
      'reason',
      'type',
      'note',
      'regarding',
      'series',
    ),
  );

export const ofNode: BundleTrim = (object) =>
  trimmed(object, {
    spec: pick(part(object, 'spec'), 'unschedulable', 'taints'),
    status: pick(part(object, 'status'), 'conditions', 'nodeInfo', 'capacity', 'allocatable'),
  });

/** Of settings those that this software has; of what is in an environment besides, the name. */
function settingsOnly(data: Fields): Fields {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, SETTINGS.has(name) ? value : REDACTED]));
}

export const ofSettings: BundleTrim = (object) =>
  trimmed(object, { data: settingsOnly((part(object, 'data') ?? {}) as Fields) });

interface Container {
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

function containersIn(spec: unknown): readonly Fields[] {
  const { containers } = pick(spec, 'containers') as { readonly containers?: readonly (Container & Fields)[] };
  return (containers ?? []).map((container) => ({
    ...pick(container, 'name', 'image', 'resources', 'envFrom'),
    env: (container.env ?? []).map(({ name, value }) => ({ name, value: SETTINGS.has(name) ? value : REDACTED })),
  }));
}

export const ofPod: BundleTrim = (object) =>
  trimmed(object, {
    spec: { ...pick(part(object, 'spec'), 'nodeName'), containers: containersIn(part(object, 'spec')) },
    status: pick(part(object, 'status'), 'phase', 'reason', 'message', 'conditions', 'containerStatuses', 'startTime'),
  });

export const ofWorkload: BundleTrim = (object) => {
  const spec = part(object, 'spec');
  const { template } = pick(spec, 'template') as { readonly template?: { readonly spec?: unknown } };
  return trimmed(object, {
    spec: { ...pick(spec, 'replicas', 'updateStrategy'), containers: containersIn(template?.spec) },
    status: part(object, 'status'),
  });
};

/** The schema of a release is known to the reader of a bundle; which one it is, doctor says. */
export const ofCrd: BundleTrim = (object) =>
  trimmed(object, { status: pick(part(object, 'status'), 'conditions', 'storedVersions') });
