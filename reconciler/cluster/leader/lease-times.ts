import type { Millis } from '#shared/runtime/clock.ts';
import type { LeaseSpec } from './lease.ts';

/** The times of a Lease. */
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

/** What writes that a leader began have at least before another one leads. One that lives renews its lease within it. */
export const lastWritesMs = ({ leaseMs, renewMs }: LeaseTiming): Millis => leaseMs - renewMs;

/** The holder's own promise of how often it renews counts, not ours: replicas may be configured differently. */
export function expiryMs(
  { leaseDurationSeconds }: LeaseSpec,
  { sinceMs }: { readonly sinceMs: Millis },
  timing: LeaseTiming,
): Millis {
  const seconds = leaseDurationSeconds ?? 0;
  return sinceMs + (seconds > 0 ? seconds * 1000 : timing.leaseMs);
}
