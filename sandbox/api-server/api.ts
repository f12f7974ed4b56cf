import type { Millis } from '#shared/runtime/clock.ts';
import type { Registry } from '#sandbox/api-server/resources/registry.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import type { ObjectStore } from '#sandbox/api-server/store/resource-store.ts';

/** What every operation works on. Operations are synchronous, so that none sees another one half done. */
export interface Api {
  readonly store: ObjectStore;
  readonly registry: Registry;
  /** Wall-clock time. */
  readonly now: () => Millis;
  /** A new UID. */
  readonly uid: () => string;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** The resource that a request is about and the namespace it names. */
export interface Target {
  readonly served: ServedResource;
  /** Undefined for cluster-scoped resources, and where a list goes over all namespaces. */
  readonly namespace: string | undefined;
}

export interface NamedTarget extends Target {
  readonly name: string;
  readonly subresource: 'status' | undefined;
}
