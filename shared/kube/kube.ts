import { API_VERSION } from '../contract/api/group.ts';
import type { KubeObject } from '../contract/api/object.ts';
import type { Millis } from '../runtime/clock.ts';

/** A kind of object as the API's paths name it. */
export interface Resource {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** @param api `apps/v1`; `v1` for the core group */
function resource(api: string, kind: string, isNamespaced: boolean): Resource {
  const [version = '', group = ''] = api.split('/').toReversed();
  return { group, version, plural: `${kind.toLowerCase()}s`, kind, namespaced: isNamespaced };
}

export const namespaced = (api: string, kind: string): Resource => resource(api, kind, true);
export const clusterWide = (api: string, kind: string): Resource => resource(api, kind, false);

export const NODES = clusterWide('v1', 'Node');
export const CONFIG_MAPS = namespaced('v1', 'ConfigMap');
export const LEASES = namespaced('coordination.k8s.io/v1', 'Lease');
export const PODS = namespaced('v1', 'Pod');
/** Events in their newer form; the core group shows the same objects in the older one. */
export const EVENTS = namespaced('events.k8s.io/v1', 'Event');
export const KUBELET_NODES = clusterWide(API_VERSION, 'KubeletNode');
export const KUBELET_POOLS = clusterWide(API_VERSION, 'KubeletPool');
export const KUBELET_SOURCES = clusterWide(API_VERSION, 'KubeletSource');

/** Where objects are: one resource, and for namespaced resources one namespace (or all, for lists and watches). */
export interface Place {
  readonly resource: Resource;
  readonly namespace?: string;
  /** Of the object that a `create` names: what is posted there is no object of its own. */
  readonly subresource?: 'eviction';
}

export interface Selection extends Place {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface Listed<T> {
  /** Opaque; where a watch goes on from. */
  readonly resourceVersion: string;
  readonly items: readonly T[];
}

/** Which watch is asked for. */
export interface WatchStart {
  /** A resourceVersion: what came after it is heard. */
  readonly version: string;
  /** The server is asked to end the watch then; in whole seconds, and one at least. */
  readonly lastsMs: Millis;
}

/** The part of an object that is of use. Pure; name and namespace have to stay. */
export type Trim<T> = (object: T) => T;

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface PatchOptions {
  readonly subresource?: 'status';
  /**
   * `strategic`: lists are merged by the key that the type names (conditions by `type`) instead of being replaced. For
   * built-in types only; the way to write one condition of an object whose other conditions belong to others.
   */
  readonly lists?: 'replace' | 'strategic';
}

/**
 * The API server as the project needs it. Every call ends: by an answer, by a `KubeError`, by its own timeout, or by the
 * signal. Watches end when the server or the time limit closes them; `follow` strings them together.
 */
export interface Kube {
  /**
   * @returns null where the server says that there is no such object
   * @throws KUBE_NOT_FOUND for an unknown resource (no CRD): that says nothing about the object
   */
  get<T extends KubeObject>(place: Place, name: string, signal?: AbortSignal): Promise<T | null>;
  /**
   * All of a selection as of one moment, read by pages. Items of a list carry neither `apiVersion` nor `kind`.
   *
   * @param trim what is kept of each item, page by page: the whole of a long list is never in memory
   */
  list<T extends KubeObject>(selection: Selection, signal?: AbortSignal, trim?: Trim<T>): Promise<Listed<T>>;
  /**
   * One watch from a list's (or an event's) resourceVersion on. It ends quietly when the server ends it, which it is
   * asked to do after `lastsMs`, and otherwise by an error. Leaving the loop, and the signal, close the connection.
   *
   * @throws KUBE_GONE where the version is too old, by status or by event
   */
  watch<T extends KubeObject>(
    selection: Selection,
    since: WatchStart,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
  /** @throws KUBE_ALREADY_EXISTS; KUBE_THROTTLED where a PodDisruptionBudget refuses an eviction */
  create<T extends KubeObject>(place: Place, object: T, signal?: AbortSignal): Promise<T>;
  /**
   * JSON merge patch. With `metadata.resourceVersion` in the patch the write is refused (KUBE_CONFLICT) if another writer
   * changed the object in between; every write of ours that follows from something read carries it.
   */
  mergePatch<T extends KubeObject>(
    place: Place,
    name: string,
    patch: Readonly<Record<string, unknown>>,
    options?: PatchOptions,
    signal?: AbortSignal,
  ): Promise<T>;
  /**
   * Deletes the object if it still has this uid (and, when given, this resourceVersion). Gone already is fine.
   *
   * @throws KUBE_CONFLICT if another object has the name by now, or another writer changed this one
   */
  delete(
    place: Place,
    name: string,
    precondition: { readonly uid: string; readonly resourceVersion?: string },
    signal?: AbortSignal,
  ): Promise<void>;
}

/** What a follower hears. `replaced` carries the whole truth, so nothing depends on not having missed a `changed`. */
export type ListWatchEvent<T> =
  /** `askedAtMs`: monotonic time at which the list was asked for; it is no older than that. */
  | { readonly heard: 'replaced'; readonly items: readonly T[]; readonly askedAtMs: Millis }
  | { readonly heard: 'changed'; readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly item: T };
