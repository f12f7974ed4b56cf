import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { toMicroTime } from '../kube/micro-time.ts';

/** `coordination.k8s.io/v1` Lease, as leader election uses it. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  /** '' or absent: no holder. */
  readonly holderIdentity?: string | null;
  /** For how long after its last change others leave the lease alone. */
  readonly leaseDurationSeconds?: number | null;
  /** `metav1.MicroTime`, for people: nothing is decided by another machine's clock. */
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
}

/** What a lease looks like when its holder gives it back: anybody may take it at once. As client-go writes it. */
export function releasedSpec(at: Millis): LeaseSpec {
  const now = toMicroTime(at);
  return { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
}
