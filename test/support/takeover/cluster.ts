import { randomUUID } from 'node:crypto';
import { type KubeletNode, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import {
  CONFIG_MAPS,
  type Kube,
  KUBELET_NODES,
  KUBELET_POOLS,
  KUBELET_SOURCES,
  LEASES,
  NODES,
  type Resource,
} from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import { type Clock, toTimestamp } from '#shared/runtime/clock.ts';
import { nextReport } from '#cli/simulate/fleet/simulated-agent.ts';
import { directKube } from '#sandbox/api-server/direct-kube.ts';
import { bootstrapCluster, PROJECT_CRDS } from '#sandbox/api-server/bootstrap-cluster.ts';
import { type Objects, objectsOf } from '#sandbox/api-server/sandbox-objects.ts';
import type { Api } from '#sandbox/api-server/api.ts';
import { NAMESPACES } from '#sandbox/api-server/resources/built-in.ts';
import { createRegistry, type Registry } from '#sandbox/api-server/resources/registry.ts';
import { createStore } from '#sandbox/api-server/store/resource-store.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';
import { createWatchHub } from '#sandbox/api-server/watch/hub.ts';

/** A write that reached the API server and changed something there. */
export interface Written {
  readonly atMs: number;
  readonly by: string;
  readonly verb: 'create' | 'patch' | 'delete';
  readonly resource: Resource;
  readonly subresource: 'status' | undefined;
  readonly name: string;
  /** As it was before, and as it is now; null where there is none. */
  readonly before: KubeObject | null;
  readonly after: KubeObject | null;
}

/** The sandbox's API server without a connection, nodes with simulated agents, and a record of who wrote what. */
export interface Cluster {
  readonly objects: Objects;
  readonly written: readonly Written[];
  /** By node: the payloads (`local` for none) that its kubelet was restarted with, in order. */
  readonly restarts: ReadonlyMap<string, readonly string[]>;
  /** What each node ran in the beginning. */
  readonly began: ReadonlyMap<string, string>;
  kubeAs(identity: string): Kube;
  /** A CustomResourceDefinition as it is applied to this cluster from now on. */
  define(definition: StoredObject): void;
  addNode(name: string, labels: Readonly<Record<string, string>>): void;
  /** Everything in it, for another cluster to begin with. */
  copy(): readonly StoredObject[];
  /** Every agent takes one step. @returns whether any of them had something to do */
  agentsStep(asleep: ReadonlySet<string>): boolean;
}

/** @param seed what another cluster held */
export async function startCluster(clock: Clock, seed: readonly StoredObject[] = []): Promise<Cluster> {
  const hub = createWatchHub();
  const { registry, namespaces } = await (installed ??= installOnce());
  const applied = createRegistry();
  const api: Api = {
    store: createStore(hub.publish, 10_000),
    registry: { ...registry, find: (...path) => applied.find(...path) ?? registry.find(...path) },
    now: clock.now,
    uid: randomUUID,
    random: () => 0.5,
  };
  for (const namespace of namespaces) api.store.put(NAMESPACES, namespace);
  for (const object of seed) api.store.put(resourceOf(object), object);
  const objects = objectsOf(api);
  const direct = directKube(api, hub, clock);
  const written: Written[] = [];
  const restarts = new Map<string, string[]>();

  return {
    objects,
    written,
    restarts,
    began: new Map(
      (objects.list(KUBELET_NODES) as unknown as readonly KubeletNode[]).map(({ metadata, status }) => [
        metadata.name,
        status?.active?.name ?? LOCAL,
      ]),
    ),
    kubeAs: (identity) =>
      recorded(direct, objects, (write) => written.push({ ...write, atMs: clock.monotonic(), by: identity })),
    define: (definition) => void applied.define(definition),
    addNode(name, labels) {
      const conditions = [{ type: 'Ready', status: 'True' }];
      const status = { conditions, nodeInfo: { kubeletVersion: 'v1.34.2' } };
      objects.seed(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, status } as KubeObject);
    },
    copy: () => COPIED.flatMap((resource) => objects.list(resource)),
    agentsStep(asleep) {
      let moved = false;
      for (const object of objects.list(KUBELET_NODES)) {
        const node = object as unknown as KubeletNode;
        const next = nextReport(node, toTimestamp(clock.now()));
        if (next === null || asleep.has(node.metadata.name)) continue;
        moved = true;
        const { name } = node.metadata;
        if (next.restarted) restarts.set(name, [...(restarts.get(name) ?? []), next.status.active?.name ?? '']);
        objects.patch(KUBELET_NODES, name, { status: mergeDiff({ ...node.status }, { ...next.status }) ?? {} });
      }
      return moved;
    },
  };
}

/** The kinds and namespaces of every cluster: to read and compile the definitions takes longer than a whole story. */
let installed: ReturnType<typeof installOnce> | undefined;

async function installOnce(): Promise<{ readonly registry: Registry; readonly namespaces: readonly StoredObject[] }> {
  const store = createStore(() => undefined, 1);
  const registry = createRegistry();
  await bootstrapCluster(
    { store, registry, now: () => 0, uid: randomUUID, random: () => 0 },
    ['kubelet-gitops'],
    PROJECT_CRDS,
  );
  return { registry, namespaces: store.of(NAMESPACES).all() };
}

const COPIED = [NODES, CONFIG_MAPS, LEASES, KUBELET_NODES, KUBELET_POOLS, KUBELET_SOURCES];

function resourceOf({ kind }: StoredObject): Resource {
  const found = COPIED.find((resource) => resource.kind === kind);
  if (found === undefined) throw new Error(`${kind} is not copied`);
  return found;
}

type Unsigned = Omit<Written, 'atMs' | 'by'>;

/** What changes nothing is no write: it is answered all the same. */
function recorded(kube: Kube, objects: Objects, record: (write: Unsigned) => void): Kube {
  const around = async <T>(
    verb: Unsigned['verb'],
    { resource, namespace }: { readonly resource: Resource; readonly namespace?: string },
    name: string,
    subresource: 'status' | undefined,
    act: () => Promise<T>,
  ): Promise<T> => {
    const look = (): KubeObject | null =>
      objects.get(resource, name, resource.namespaced ? namespace : undefined) ?? null;
    const before = look();
    const done = act();
    const after = look();
    if (before !== after) record({ verb, resource, subresource, name, before, after });
    return done;
  };
  return {
    ...kube,
    create: (place, object, signal) =>
      around('create', place, object.metadata.name, undefined, () => kube.create(place, object, signal)),
    mergePatch: (place, name, patch, options, signal) =>
      around('patch', place, name, options?.subresource, () => kube.mergePatch(place, name, patch, options, signal)),
    delete: (place, name, precondition, signal) =>
      around('delete', place, name, undefined, () => kube.delete(place, name, precondition, signal)),
  };
}
