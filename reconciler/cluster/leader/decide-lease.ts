import type { Millis } from '#shared/runtime/clock.ts';
import { toMicroTime } from '../kube/micro-time.ts';
import type { Lease, LeaseSpec } from './lease.ts';
import { expiryMs, lastWritesMs, type LeaseTiming } from './lease-times.ts';

/** When this process first saw the lease say what it says now. */
export interface LeaseObservation {
  readonly content: string;
  /** Monotonic, this machine's. */
  readonly sinceMs: Millis;
}

export interface LeaseInput {
  /** null: there is none yet. */
  readonly lease: Lease | null;
  readonly observation: LeaseObservation | null;
  /** Unique to this process: a replica that starts again under an old name would lead together with the old one. */
  readonly me: string;
  /** The pod that this process runs in: who held the lease as `<pod>_…` before has ended, or it would not run. */
  readonly pod?: string | undefined;
  /** Monotonic. */
  readonly nowMs: Millis;
  /** Wall-clock time, only written down. */
  readonly wallMs: Millis;
  readonly timing: LeaseTiming;
}

export type LeaseDecision =
  | { readonly do: 'create'; readonly spec: LeaseSpec }
  | { readonly do: 'renew'; readonly spec: LeaseSpec }
  | { readonly do: 'take'; readonly spec: LeaseSpec; readonly from: string }
  | { readonly do: 'wait'; readonly holder: string; readonly forMs: Millis };

/**
 * Notes a lease that was just read. Its age is counted from the first sight of its content by this machine's own clock,
 * so that the clocks of the replicas need not agree on the time.
 */
export function observeLease(lease: Lease, before: LeaseObservation | null, nowMs: Millis): LeaseObservation {
  const { holderIdentity, acquireTime, renewTime, leaseTransitions } = lease.spec ?? {};
  const saying = JSON.stringify([holderIdentity, acquireTime, renewTime, leaseTransitions]);
  return before?.content === saying ? before : { content: saying, sinceMs: nowMs };
}

/** The next step towards holding the lease. A write that follows from it carries the lease's resourceVersion. */
export function decideLease({ lease, observation, me, pod, nowMs, wallMs, timing }: LeaseInput): LeaseDecision {
  const now = toMicroTime(wallMs);
  const mine = { holderIdentity: me, leaseDurationSeconds: Math.ceil(timing.leaseMs / 1000), renewTime: now };
  if (lease === null) return { do: 'create', spec: { ...mine, acquireTime: now, leaseTransitions: 0 } };

  const spec = lease.spec ?? {};
  const holder = spec.holderIdentity ?? '';
  if (holder === me) return { do: 'renew', spec: mine };

  const seen = observation ?? observeLease(lease, null, nowMs);
  const isPredecessor = pod !== undefined && holder.startsWith(`${pod}_`);
  const endMs = isPredecessor ? seen.sinceMs + lastWritesMs(timing) : expiryMs(spec, seen, timing);
  const leftMs = holder === '' ? 0 : endMs - nowMs;
  if (leftMs > 0) return { do: 'wait', holder, forMs: leftMs };
  const leaseTransitions = (spec.leaseTransitions ?? 0) + 1;
  return { do: 'take', from: holder, spec: { ...mine, acquireTime: now, leaseTransitions } };
}
