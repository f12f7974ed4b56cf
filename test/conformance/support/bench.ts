import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import type { KubeletNode, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { isKubeError, type KubeError } from '#shared/kube/kube-error.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, LEASES, type Place, type WatchEvent } from '#shared/kube/kube.ts';
import type { Connection } from './connection.ts';
import type { Loose, Raw } from './raw.ts';

export const AT_NODES: Place = { resource: KUBELET_NODES };
export const AT_MAPS: Place = { resource: CONFIG_MAPS, namespace: DEFAULT_NAMESPACE };
export const AT_LEASES: Place = { resource: LEASES, namespace: DEFAULT_NAMESPACE };
export const NODES_PATH = '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes';
export const MAPS_PATH = `/api/v1/namespaces/${DEFAULT_NAMESPACE}/configmaps`;

/** What every behaviour is tried with. Objects have names of their own, so that no test sees another's. */
export interface Bench {
  readonly kube: Kube;
  readonly raw: Raw;
  readonly connection: Connection;
  /** A name that nothing has yet. */
  readonly fresh: (stem?: string) => string;
  /** Makes a KubeletNode of a fresh name. */
  readonly aNode: (spec?: KubeletNodeSpec, labels?: Readonly<Record<string, string>>) => Promise<KubeletNode>;
  readonly aMap: (data: Readonly<Record<string, string>>, immutable?: boolean) => Promise<KubeObject>;
}

export function benchOn(connection: Connection): Bench {
  const { kube, raw } = connection;
  const fresh = (stem = 'x'): string => `${stem}-${randomBytes(6).toString('hex')}`;
  return {
    kube,
    raw,
    connection,
    fresh,
    aNode: (spec, labels) => kube.create<KubeletNode>(AT_NODES, nodeBody(fresh('node'), spec, labels)),
    aMap: (data, immutable) => kube.create(AT_MAPS, mapBody(fresh('map'), data, immutable)),
  };
}

export const nodeBody = (
  name: string,
  spec?: KubeletNodeSpec,
  labels?: Readonly<Record<string, string>>,
): KubeletNode => ({
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'KubeletNode',
  metadata: { name, ...(labels === undefined ? {} : { labels }) },
  ...(spec === undefined ? {} : { spec }),
});

export const mapBody = (name: string, data: Readonly<Record<string, string>>, immutable?: boolean) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: DEFAULT_NAMESPACE },
  data,
  ...(immutable === undefined ? {} : { immutable }),
});

/** The error that a call ends with. */
export async function refusalOf(call: Promise<unknown>): Promise<KubeError> {
  const ended: unknown = await call.then(
    () => 'the call succeeded',
    (error: unknown) => error,
  );
  assert.ok(isKubeError(ended), String(ended));
  return ended;
}

/**
 * The fields that a Status complains of. Servers before 1.21 leave out the index of a list's item; newer ones add, without a field,
 * that some rules were not checked.
 */
export const fieldsOf = (status: Loose): readonly string[] =>
  [
    ...new Set((status.details?.causes ?? []).map((cause: Loose) => String(cause.field).replaceAll(/\[\d+\]/g, ''))),
  ].filter((field) => field !== '<nil>') as string[];

/** The uid and version of an object that a server gave. */
export function identityOf({ metadata }: KubeObject): { readonly uid: string; readonly resourceVersion: string } {
  const { uid, resourceVersion } = metadata;
  assert.ok(uid !== undefined && resourceVersion !== undefined);
  return { uid, resourceVersion };
}

/** Takes events until there are `count`; fails where they do not come within some minutes. */
export async function take<T>(count: number, events: AsyncIterable<T>): Promise<readonly T[]> {
  const taken: T[] = [];
  if (count === 0) return taken;
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  assert.equal(taken.length, count, `the watch ended after ${taken.length} events`);
  return taken;
}

/** What a watch through the client says, bookmarks left out: they come when the server likes. */
export async function* changesOf<T extends KubeObject>(
  kube: Kube,
  selection: Parameters<Kube['watch']>[0],
  version: string,
): AsyncGenerator<Exclude<WatchEvent<T>, { readonly type: 'BOOKMARK' }>, void, void> {
  const over = new AbortController();
  const bound = AbortSignal.any([over.signal, AbortSignal.timeout(120_000)]);
  try {
    for await (const event of kube.watch<T>(selection, { version, lastsMs: 300_000 }, bound))
      if (event.type !== 'BOOKMARK') yield event;
  } finally {
    over.abort();
  }
}
