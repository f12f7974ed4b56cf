import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { toMicroTime } from '../kube/micro-time.ts';

/** `coordination.k8s.io/v1` Lease, as leader election uses it. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  /** '' or absent: nobody. */
  readonly holderIdentity?: string | null;
  /** For how long after its last change others leave the lease alone. */
  readonly leaseDurationSeconds?: number | null;
  /** `metav1.MicroTime`, for people: nothing is decided by another machine's clock. */
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
}

export interface LeaseTiming {
  /** How long others wait after the last renewal that they saw. */
  readonly leaseMs: Millis;
  /** How long a leader trusts its last renewal. Smaller than `leaseMs` by more than clocks' rates can differ. */
  readonly renewMs: Millis;
  /** Between two tries. */
  readonly retryMs: Millis;
}

/** client-go's defaults, as kube-controller-manager runs with. */
export const LEASE_TIMING: LeaseTiming = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2000 };

/** What a lease looks like when its holder gives it back: anybody may take it at once. As client-go writes it. */
export function releasedSpec(at: Millis): LeaseSpec {
  const now = toMicroTime(at);
  return { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
}
