import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, LEASES } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { withDeadline } from '../host/deadline.ts';

/** Where every kubelet renews its node's lease (k8s.io/api/coordination/v1, KEP-589). */
const NAMESPACE = 'kube-node-lease';
const TIMEOUT_MS = 5_000;
/** The kubelet's default of `nodeLeaseDurationSeconds`; it renews after a quarter of that. */
const DEFAULT_DURATION_SECONDS = 40;

interface Lease extends KubeObject {
  readonly spec?: { readonly renewTime?: string; readonly leaseDurationSeconds?: number };
}

/**
 * Whether the kubelet speaks to the API server now. A Node goes on to be called Ready for a while after its kubelet fell
 * silent; its lease does not go on to be renewed.
 */
export interface NodeLease {
  /** False where that cannot be found out. Never throws. */
  isStale(signal: AbortSignal): Promise<boolean>;
}

export function createNodeLease(kube: Kube, nodeName: string, clock: Clock): NodeLease {
  let last: { readonly renewTime: string; readonly changedAt: Millis } | undefined;
  return {
    async isStale(parent) {
      try {
        const lease = await withDeadline(clock, TIMEOUT_MS, parent, (signal) =>
          kube.get<Lease>({ resource: LEASES, namespace: NAMESPACE }, nodeName, signal),
        );
        const { renewTime, leaseDurationSeconds = DEFAULT_DURATION_SECONDS } = lease?.spec ?? {};
        if (renewTime === undefined) return false;
        // Only that it changes counts: the two clocks need not agree.
        const now = clock.monotonic();
        if (last?.renewTime !== renewTime) last = { renewTime, changedAt: now };
        return now - last.changedAt > leaseDurationSeconds * 1_000;
      } catch {
        return false;
      }
    },
  };
}
