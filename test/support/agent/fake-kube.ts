import type { KubeletNode, KubeletNodeSpec, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import type { Kube, Place, WatchStart, WatchEvent } from '#shared/kube/kube.ts';

/** An API server as one agent sees it: its KubeletNode, its Node, and ConfigMaps; and it can go away. */
export interface FakeKube extends Kube {
  put(plural: string, object: KubeObject & Readonly<Record<string, unknown>>): void;
  remove(plural: string, name: string): void;
  /** Puts the KubeletNode's spec. */
  assign(nodeName: string, spec: KubeletNodeSpec): void;
  spec(nodeName: string): KubeletNodeSpec;
  status(nodeName: string): KubeletNodeStatus;
  setAway(away: boolean): void;
  /** `patch kubeletnodes/node-1`, `get configmaps/general-…`, in order; watches and lists left out. */
  readonly calls: string[];
  /** What each write of a status said. */
  readonly patches: Readonly<Record<string, unknown>>[];
  /** Everything in it, each with the plural of its resource. */
  objects(): readonly (readonly [string, KubeObject & Readonly<Record<string, unknown>>])[];
}

type Stored = KubeObject & Readonly<Record<string, unknown>>;

export function createFakeKube(): FakeKube {
  const objects = new Map<string, Stored>();
  const watchers = new Set<{
    readonly plural: string;
    readonly push: (event: WatchEvent<Stored>) => void;
    readonly cut: () => void;
  }>();
  const calls: string[] = [];
  const patches: Readonly<Record<string, unknown>>[] = [];
  let version = 100;
  let away = false;

  const check = (signal?: AbortSignal): void => {
    if (away) throw new KubeError('KUBE_UNREACHABLE', 'no answer from the API server');
    if (signal?.aborted === true) throw new KubeError('KUBE_ABORTED', 'aborted');
  };
  const put = (plural: string, object: Stored, generation?: number): Stored => {
    const before = objects.get(`${plural}/${object.metadata.name}`);
    version += 1;
    const metadata = {
      ...object.metadata,
      uid: before?.metadata.uid ?? object.metadata.uid ?? `uid-${version}`,
      resourceVersion: String(version),
      generation: generation ?? (before?.metadata.generation ?? 0) + 1,
    };
    const stored = structuredClone({ ...object, metadata });
    objects.set(`${plural}/${object.metadata.name}`, stored);
    for (const watcher of watchers) {
      if (watcher.plural === plural)
        watcher.push({ type: before === undefined ? 'ADDED' : 'MODIFIED', object: stored });
    }
    return stored;
  };

  return {
    calls,
    patches,
    objects: () => [...objects].map(([key, object]) => [key.slice(0, key.indexOf('/')), object]),
    put: (plural, object) => void put(plural, object),
    remove(plural, name) {
      const object = objects.get(`${plural}/${name}`);
      objects.delete(`${plural}/${name}`);
      if (object === undefined) return;
      for (const watcher of watchers) if (watcher.plural === plural) watcher.push({ type: 'DELETED', object });
    },
    assign(nodeName, spec) {
      const before = objects.get(`kubeletnodes/${nodeName}`);
      put('kubeletnodes', { ...before, metadata: { name: nodeName }, spec });
    },
    spec: (nodeName) => (objects.get(`kubeletnodes/${nodeName}`) as KubeletNode | undefined)?.spec ?? {},
    status: (nodeName) => (objects.get(`kubeletnodes/${nodeName}`) as KubeletNode | undefined)?.status ?? {},
    setAway(next) {
      away = next;
      if (away) for (const watcher of watchers) watcher.cut();
    },
    async get<T extends KubeObject>({ resource }: Place, name: string, signal?: AbortSignal) {
      calls.push(`get ${resource.plural}/${name}`);
      check(signal);
      return (objects.get(`${resource.plural}/${name}`) as T | undefined) ?? null;
    },
    async list({ resource }: Place, signal?: AbortSignal) {
      check(signal);
      const items = [...objects].filter(([key]) => key.startsWith(`${resource.plural}/`)).map(([, object]) => object);
      return { resourceVersion: String(version), items: items as never[] };
    },
    async *watch<T extends KubeObject>({ resource }: Place, { version: from }: WatchStart, signal: AbortSignal) {
      check(signal);
      const queue: WatchEvent<Stored>[] = [];
      let wake: () => void = () => undefined;
      let ended = false;
      const end = (): void => {
        ended = true;
        wake();
      };
      const watcher = {
        plural: resource.plural,
        push: (event: WatchEvent<Stored>) => {
          queue.push(event);
          wake();
        },
        cut: end,
      };
      // Whatever happened since the list.
      for (const [key, object] of objects) {
        const isNewer = Number(object.metadata.resourceVersion) > Number(from);
        if (key.startsWith(`${resource.plural}/`) && isNewer) queue.push({ type: 'MODIFIED', object });
      }
      watchers.add(watcher);
      signal.addEventListener('abort', end);
      try {
        while (!signal.aborted) {
          for (let event = queue.shift(); event !== undefined; event = queue.shift())
            yield event as unknown as WatchEvent<T>;
          check(signal);
          if (ended) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        watchers.delete(watcher);
      }
    },
    create: () => Promise.reject(new Error('an agent creates nothing')),
    delete: () => Promise.reject(new Error('an agent deletes nothing')),
    async mergePatch<T extends KubeObject>(
      { resource }: Place,
      name: string,
      patch: Readonly<Record<string, unknown>>,
      options: { readonly subresource?: 'status' } = {},
    ) {
      calls.push(`patch ${resource.plural}/${name}`);
      check();
      const before = objects.get(`${resource.plural}/${name}`);
      if (before === undefined) throw new KubeError('KUBE_NOT_FOUND', `no ${name}`, { status: 404 });
      if (options.subresource !== 'status') throw new Error('an agent writes statuses only');
      const status = merge(before['status'] ?? {}, patch['status']);
      patches.push(patch['status'] as Readonly<Record<string, unknown>>);
      return put(resource.plural, { ...before, status }, before.metadata.generation) as unknown as T;
    },
  };
}

/** RFC 7396. */
function merge(before: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof before === 'object' && before !== null && !Array.isArray(before) ? { ...before } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}
