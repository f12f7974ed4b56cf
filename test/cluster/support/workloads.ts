import { execFile } from 'node:child_process';
import type { ControlPlane } from './control-plane.ts';
import { NAMESPACE, type Program, type Programs } from './programs.ts';

type Name = 'agent' | 'reconciler';
type Env = Readonly<Record<string, string>>;

export interface WorkloadsOptions {
  readonly cluster: ControlPlane;
  /** The programs of an image, by its tag. */
  readonly imageOf: (tag: string) => Programs;
  /** What is elsewhere here than in a pod on a node. */
  readonly here: Readonly<Record<Name, Env>>;
}

/**
 * The controllers and the kubelet of our Deployment and our DaemonSet, on one node: the programs run as the applied objects
 * say, with their image, settings and variables, and the objects' statuses follow, so that `kubectl rollout status` works as
 * on a cluster. It also lets a deleted namespace go, as the namespace controller does.
 */
export interface Workloads {
  /** The program that runs now, or ran last. */
  readonly program: (name: Name) => Program | undefined;
  readonly stop: () => Promise<void>;
}

interface Container {
  readonly image: string;
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly configMapKeyRef?: { readonly name: string; readonly key: string } };
  }[];
  readonly readinessProbe?: {
    readonly exec?: { readonly command: readonly string[] };
    readonly httpGet?: { readonly path: string };
  };
}
interface Workload {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [Container] } } };
}

const PLACES = {
  agent: 'daemonsets/kubelet-gitops-agent',
  reconciler: 'deployments/kubelet-gitops-reconciler',
} as const;
const LOOK_EVERY_MS = 250;

export function runWorkloads({ cluster, imageOf, here }: WorkloadsOptions): Workloads {
  const running = new Map<Name, { readonly template: string; readonly program: Program }>();
  const last = new Map<Name, Program>();
  const end = new AbortController();

  const env = async (name: Name, container: Container): Promise<Env> => {
    const maps = new Map<string, Env>();
    const own: [string, string][] = [];
    for (const { name: variable, value, valueFrom } of container.env ?? []) {
      const ref = valueFrom?.configMapKeyRef;
      if (ref !== undefined && !maps.has(ref.name)) {
        const found = await cluster.request('GET', `/api/v1/namespaces/${NAMESPACE}/configmaps/${ref.name}`);
        maps.set(ref.name, (found.json() as { readonly data: Env }).data);
      }
      const set = value ?? (ref === undefined ? undefined : maps.get(ref.name)?.[ref.key]);
      if (set !== undefined) own.push([variable, set]);
    }
    return { ...Object.fromEntries(own), ...here[name] };
  };

  const stop = async (name: Name): Promise<void> => {
    await running.get(name)?.program.stop();
    running.delete(name);
  };

  const look = async (name: Name): Promise<void> => {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/${PLACES[name]}`;
    const answer = await cluster.request('GET', path);
    if (answer.status === 404) return stop(name);
    if (answer.status !== 200) return;
    const { metadata, spec } = answer.json() as Workload;
    const template = JSON.stringify(spec.template);
    const [container] = spec.template.spec.containers;
    const present = running.get(name);
    if (present?.template !== template || present.program.ended() !== undefined) {
      await stop(name);
      const program = await imageOf(container.image.split(':').at(-1) ?? '').start(name, await env(name, container));
      running.set(name, { template, program });
      last.set(name, program);
    }
    const ready = running.get(name)?.program.ended() === undefined && (await isReady(container, here[name])) ? 1 : 0;
    const status =
      name === 'agent' ? ofDaemonSet(metadata.generation, ready) : ofDeployment(metadata.generation, ready);
    await cluster.request('PATCH', `${path}/status`, { status }, 'application/merge-patch+json');
  };

  const life = (async () => {
    while (!end.signal.aborted) {
      // As controllers do: what failed is tried again, and `kubectl rollout status` waits so long.
      await Promise.allSettled([look('agent'), look('reconciler'), letNamespaceGo(cluster)]);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    await Promise.all([stop('agent'), stop('reconciler')]);
  })();

  return {
    program: (name) => last.get(name),
    stop() {
      end.abort();
      return life;
    },
  };
}

const ofDeployment = (observedGeneration: number, ready: number) => ({
  observedGeneration,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: ready,
  availableReplicas: ready,
});
const ofDaemonSet = (observedGeneration: number, ready: number) => ({
  observedGeneration,
  desiredNumberScheduled: 1,
  currentNumberScheduled: 1,
  updatedNumberScheduled: 1,
  numberMisscheduled: 0,
  numberReady: ready,
  numberAvailable: ready,
});

/** As the probe asks, with this machine's Node and paths. */
async function isReady({ readinessProbe: probe }: Container, here: Env): Promise<boolean> {
  if (probe?.httpGet !== undefined) {
    const answer = await fetch(`http://127.0.0.1:${here['HEALTH_PORT']}${probe.httpGet.path}`).catch(() => undefined);
    return answer?.ok === true;
  }
  if (probe?.exec === undefined) return true;
  const [, ...args] = probe.exec.command.map((word) =>
    word.replace('/var/lib/kubelet-gitops', here['STATE_DIR'] ?? ''),
  );
  return new Promise((resolve) => execFile(process.execPath, args, (error) => resolve(error === null)));
}

async function letNamespaceGo(cluster: ControlPlane): Promise<void> {
  const path = `/api/v1/namespaces/${NAMESPACE}`;
  const answer = await cluster.request('GET', path);
  if (answer.status !== 200) return;
  const namespace = answer.json() as {
    readonly metadata: { readonly deletionTimestamp?: string };
    readonly spec: object;
  };
  if (namespace.metadata.deletionTimestamp === undefined) return;
  await cluster.request('PUT', `${path}/finalize`, { ...namespace, spec: { ...namespace.spec, finalizers: [] } });
}
