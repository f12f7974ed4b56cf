import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { mapOf } from '#shared/runtime/maps.ts';

/** Pods of the priority classes system-*-critical, static ones, and those of DaemonSets, and what they request together. */
export interface VitalPods {
  readonly count: number;
  /** In cores and bytes. */
  readonly requests: Readonly<Record<'cpu' | 'memory' | 'ephemeral-storage', number>>;
}

type Raw = Readonly<Record<string, unknown>>;

/** From this priority on pods are critical for a kubelet (pkg/kubelet/types, `IsCriticalPod`). */
const CRITICAL = 2_000_000_000;

/** What the pods of one node that it cannot do without request together; the others are left out. */
export function vitalPods(pods: readonly unknown[]): VitalPods {
  const vital = pods.map(mapOf).filter(isVital);
  const sum = (resource: string): number => vital.reduce((total, pod) => total + requestOf(pod, resource), 0);
  return {
    count: vital.length,
    requests: { cpu: sum('cpu'), memory: sum('memory'), 'ephemeral-storage': sum('ephemeral-storage') },
  };
}

/** A mirror of a static pod belongs to its Node. */
function isVital(pod: Raw): boolean {
  const { priority, priorityClassName } = mapOf(pod['spec']);
  if (typeof priority === 'number' && priority >= CRITICAL) return true;
  if (typeof priorityClassName === 'string' && /^system-(?:node|cluster)-critical$/.test(priorityClassName))
    return true;
  const owners = mapsIn(mapOf(pod['metadata'])['ownerReferences']);
  return owners.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node');
}

/**
 * What a pod asks for, as kubelets and schedulers count it: all that runs at once, or the init container that asks for most
 * together with the sidecars that were started before it; and its overhead.
 */
function requestOf(pod: Raw, resource: string): number {
  const spec = mapOf(pod['spec']);
  const of = (container: Raw): number => amountIn(mapOf(container['resources'])['requests'], resource);
  let sidecars = 0;
  let most = 0;
  for (const container of mapsIn(spec['initContainers'])) {
    const asked = of(container);
    if (container['restartPolicy'] === 'Always') sidecars += asked;
    most = Math.max(most, container['restartPolicy'] === 'Always' ? sidecars : sidecars + asked);
  }
  const running = mapsIn(spec['containers']).reduce((total, container) => total + of(container), sidecars);
  return Math.max(running, most) + amountIn(spec['overhead'], resource);
}

export const mapsIn = (value: unknown): readonly Raw[] => (Array.isArray(value) ? value.map(mapOf) : []);

/** Files may have numbers where Kubernetes writes texts. */
function amountIn(amounts: unknown, resource: string): number {
  const amount = mapOf(amounts)[resource];
  return typeof amount === 'string' || typeof amount === 'number' ? (parseQuantity(String(amount)) ?? 0) : 0;
}
