import { askedToWaitMs, isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, PODS } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { DrainView, PodCount } from '../../policy/fleet.ts';
import { hasOtherNode, isOwnPod, type OwnPod } from './own-pod.ts';
import { featureNeeds } from '../../policy/allocatable/feature-needs.ts';
import { vitalPods } from '../../policy/allocatable/vital-pods.ts';
import { mustBeEvicted, isFinished, isTerminating, type Pod } from '../../policy/disruption/evictable.ts';

/**
 * Drains nodes step by step: each call looks at the node's pods and evicts what has to leave, this process's own pod last. Keeps
 * nothing that a restart loses.
 */
export interface Drains {
  /** By name of the node. */
  readonly views: () => ReadonlyMap<string, DrainView>;
  /** By name of the node, those that were asked for. */
  readonly counts: () => ReadonlyMap<string, PodCount>;
  /** Counts the pods that have not ended. Throws a `KubeError` where they cannot be listed, but for a missing right. */
  readonly count: (node: string, at: Millis, signal: AbortSignal) => Promise<void>;
  /** Throws a `KubeError` where the pods cannot be listed. A pod that may not be evicted now is in the view. */
  readonly evict: (node: string, since: Millis, signal: AbortSignal) => Promise<void>;
  /** Forgets what was seen on nodes that are gone: where nodes come and go, no two have the same name. */
  readonly keepOnly: (nodes: { has(name: string): boolean }) => void;
}

const MOST_NAMES = 3;

/** A right that was missing is asked for again after this long: it may have been granted. */
const ASK_AGAIN_MS: Millis = 10 * 60_000;

/** @param own null where this process runs in no pod */
export function createDrains(kube: Kube, own: OwnPod | null = null): Drains {
  const views = new Map<string, DrainView>();
  const counts = new Map<string, PodCount>();
  /** Version of the eviction API that the server took last: policy/v1 came with 1.22, v1beta1 went with 1.25. */
  let version = 'policy/v1';
  let refusedAt: Millis = Number.NEGATIVE_INFINITY;

  return {
    views: () => views,
    counts: () => counts,
    async count(node, at, signal) {
      if (at - refusedAt < ASK_AGAIN_MS) return void counts.set(node, { at, pods: null });
      try {
        const { items } = await kube.list<Pod>({ resource: PODS, fieldSelector: `spec.nodeName=${node}` }, signal);
        const running = items.filter((pod) => !isKnownTo(isFinished, pod));
        const needs = featureNeeds(running);
        const found = { at, pods: running.length, vital: vitalPods(running) };
        counts.set(node, needs.size === 0 ? found : { ...found, needs });
      } catch (error) {
        if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
        refusedAt = at;
        counts.set(node, { at, pods: null });
      }
    },
    async evict(node, since, signal) {
      const { items } = await kube.list<Pod>({ resource: PODS, fieldSelector: `spec.nodeName=${node}` }, signal);
      const left = items.filter((pod) => !isKnownTo(mayStay, pod));
      const others = left.filter(({ metadata }) => !isOwnPod(own, metadata));
      const refused: string[] = [];
      for (const pod of others) {
        const why = isKnownTo(isTerminating, pod) ? null : await evictOne(pod, signal);
        if (why !== null) refused.push(`${nameOf(pod)}: ${why}`);
      }
      const [mine] = others.length === 0 ? left.filter((each) => !isKnownTo(isTerminating, each)) : [];
      if (mine !== undefined) {
        // It would wait for a node that only it can open again. A restart of the kubelet does it no harm.
        if (!(await hasOtherNode(kube, node, signal))) {
          const because = 'its pods have left, but for the reconciler, which no other node can take';
          views.set(node, { since, drained: true, because });
          return;
        }
        const why = await leave(mine, signal);
        if (why !== null) refused.push(`${nameOf(mine)}: ${why}`);
      }
      const names = left.slice(0, MOST_NAMES).map(nameOf).join(', ');
      const waits = `${left.length} pods have to leave (${names}${left.length > MOST_NAMES ? ' …' : ''})`;
      const because = left.length === 0 ? 'its pods have left' : [waits, ...refused.slice(0, MOST_NAMES)].join('; ');
      views.set(node, { since, drained: left.length === 0, because });
    },
    keepOnly(nodes) {
      for (const known of [views, counts]) {
        for (const name of known.keys()) if (!nodes.has(name)) known.delete(name);
      }
    },
  };

  /** Hands over only what will then go: where a budget keeps this process's pod here, it goes on leading. */
  async function leave(pod: Pod, signal: AbortSignal): Promise<string | null> {
    const why = await evictOne(pod, signal, { dryRun: ['All'] });
    if (why !== null) return why;
    await own?.handOver();
    return evictOne(pod, signal);
  }

  /** @returns null if the pod is evicted or gone; otherwise why not */
  async function evictOne(
    { metadata }: Pod,
    signal: AbortSignal,
    options: { readonly dryRun?: readonly string[] } = {},
    apiVersion = version,
  ): Promise<string | null> {
    try {
      const { name, namespace = '', uid = '' } = metadata;
      const eviction = {
        apiVersion,
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: { ...options, preconditions: { uid } },
      };
      await kube.create({ resource: PODS, namespace, subresource: 'eviction' }, eviction, signal);
      version = apiVersion;
      return null;
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) return null;
      if (isKubeError(error, 'KUBE_INVALID') && apiVersion === 'policy/v1') {
        return evictOne({ metadata }, signal, options, 'policy/v1beta1');
      }
      if (isKubeError(error, 'KUBE_ABORTED') || askedToWaitMs(error) !== undefined) throw error;
      return reasonOf(error);
    }
  }
}

const mayStay = (pod: Pod): boolean => !mustBeEvicted(pod);

/** Whether this holds of a pod as far as anybody can see: one that cannot be read stays in the way of its own node, and of no other. */
function isKnownTo(holds: (pod: Pod) => boolean, pod: Pod): boolean {
  try {
    return holds(pod);
  } catch {
    return false;
  }
}

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;
