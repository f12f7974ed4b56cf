import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, type Kube, PODS } from '#shared/kube/kube.ts';
import type { PodFact, WorkloadFact } from '../facts.ts';
import {
  AGENT,
  COMPONENT_LABEL,
  DAEMON_SETS,
  DEPLOYMENTS,
  OUR_AGENTS,
  OUR_PODS,
  RECONCILER,
} from './installation-resources.ts';

interface Container {
  readonly image?: string;
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly configMapKeyRef?: { readonly name?: string; readonly key: string } };
  }[];
}

interface WorkloadObject extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } };
  };
  readonly status?: {
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
  };
}

interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** @returns null where there is none */
export async function readReconciler(kube: Kube, namespace: string): Promise<WorkloadFact | null> {
  const object = await kube.get<WorkloadObject>({ resource: DEPLOYMENTS, namespace }, RECONCILER);
  if (object === null) return null;
  const [container] = object.spec?.template?.spec?.containers ?? [];
  return {
    wanted: object.spec?.replicas ?? 1,
    ready: object.status?.readyReplicas ?? 0,
    updated: object.status?.updatedReplicas ?? 0,
    image: container?.image ?? '',
    settings: await settingsOf(container ?? {}, kube, namespace),
  };
}

/** All DaemonSets as one: they differ in the nodes, and in where those have the kubelet's files. */
export async function readAgents(kube: Kube, namespace: string): Promise<WorkloadFact | null> {
  const { items } = await kube.list<WorkloadObject>({ resource: DAEMON_SETS, namespace, labelSelector: OUR_AGENTS });
  const object = items.find(({ metadata }) => metadata.name === AGENT);
  if (object === undefined) return null;
  const [container] = object.spec?.template?.spec?.containers ?? [];
  const sum = (count: (status: NonNullable<WorkloadObject['status']>) => number | undefined): number =>
    items.reduce((total, { status = {} }) => total + (count(status) ?? 0), 0);
  return {
    wanted: sum(({ desiredNumberScheduled }) => desiredNumberScheduled),
    ready: sum(({ numberReady }) => numberReady),
    updated: sum(({ updatedNumberScheduled }) => updatedNumberScheduled),
    image: container?.image ?? '',
    settings: await settingsOf(container ?? {}, kube, namespace),
  };
}

async function settingsOf(
  { env = [] }: Container,
  kube: Kube,
  namespace: string,
): Promise<Readonly<Record<string, string>>> {
  const names = new Set(env.flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef?.name ?? []));
  const read = async (name: string) =>
    [
      name,
      (await kube.get<DataObject>({ resource: CONFIG_MAPS, namespace }, name).catch(() => null))?.data ?? {},
    ] as const;
  const maps = new Map(await Promise.all([...names].map(read)));
  const own = env.flatMap(({ name, value, valueFrom }) => {
    const ref = valueFrom?.configMapKeyRef;
    const set = value ?? (ref === undefined ? undefined : maps.get(ref.name ?? '')?.[ref.key]);
    return set === undefined ? [] : [[name, set] as const];
  });
  return Object.fromEntries(own);
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly ready?: boolean;
      readonly restartCount?: number;
      readonly state?: { readonly waiting?: { readonly reason?: string } };
    }[];
  };
}

export async function readPods(kube: Kube, namespace: string): Promise<readonly PodFact[]> {
  const { items } = await kube.list<PodObject>({ resource: PODS, namespace, labelSelector: OUR_PODS });
  return items.map(({ metadata, spec, status }) => {
    const containers = status?.containerStatuses ?? [];
    const waiting = containers.map(({ state }) => state?.waiting?.reason ?? '').find((reason) => reason !== '') ?? '';
    return {
      name: metadata.name,
      component: metadata.labels?.[COMPONENT_LABEL] ?? '',
      node: spec?.nodeName ?? '',
      ready: containers.length > 0 && containers.every(({ ready }) => ready === true),
      // Being made is no failure.
      waiting: waiting === 'ContainerCreating' || waiting === 'PodInitializing' ? '' : waiting,
      restarts: containers.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    };
  });
}
