import { type Kube, LEASES, type Place } from '#shared/kube/kube.ts';
import { createLifetime } from '#shared/runtime/lifetime.ts';
import { mergePatchLatest } from '#shared/kube/update.ts';
import { type Clock, fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { decideLease, type LeaseDecision, observeLease, type LeaseObservation } from './decide-lease.ts';
import { type Lease, releasedSpec } from './lease.ts';
import type { LeaseTiming } from './lease-times.ts';

export interface LeaseClientOptions {
  readonly kube: Kube;
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process, not only to its pod: a container that is restarted must not inherit the lead. */
  readonly identity: string;
  /** See `LeaseInput`. */
  readonly pod?: string | undefined;
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Ends the hold and gives the lease back. Abort it when the last write is done, not before. */
  readonly signal: AbortSignal;
  readonly timing: LeaseTiming;
}

export interface LeaseClient {
  /** One read (where the last write did not tell), one decision, one write. @returns whether the lease is ours now */
  step(limitMs: Millis): Promise<boolean>;
  release(): Promise<void>;
  holder(): string | undefined;
  /**
   * How far this machine's clock was, when the lease became ours, ahead of the last time that the holder before wrote into it: what that
   * one wrote elsewhere is read on this clock by it. 0 if the two agree, or if the lease had no holder.
   */
  ahead(): Millis;
}

/** Two clocks that are no further apart agree, and so do times on them. */
const AGREED_MS: Millis = 60_000;

/** What one process knows of a Lease, and its writes to it. */
export function createLeaseClient(options: LeaseClientOptions): LeaseClient {
  const { kube, namespace, name, identity, pod, clock, random, signal, timing } = options;
  const place: Place = { resource: LEASES, namespace };
  let known: Lease | null = null;
  let sighting: LeaseObservation | null = null;
  let holder: string | undefined;
  let ahead: Millis = 0;

  /** What the lease says now, as just read or written. */
  const note = (lease: Lease | null): void => {
    known = lease;
    if (lease === null) return;
    sighting = observeLease(lease, sighting, clock.monotonic());
    holder = lease.spec?.holderIdentity ?? '';
  };

  const write = (decision: Exclude<LeaseDecision, { do: 'wait' }>, within: AbortSignal): Promise<Lease> => {
    const { spec } = decision;
    if (decision.do === 'create') {
      const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
      return kube.create(place, lease, within);
    }
    const resourceVersion = known?.metadata.resourceVersion;
    return kube.mergePatch<Lease>(place, name, { metadata: { resourceVersion }, spec }, {}, within);
  };

  return {
    holder: () => holder,
    ahead: () => ahead,
    async step(limitMs) {
      const life = createLifetime(clock, signal, () => signal.reason as unknown);
      life.cutAfter(limitMs, () => new GitopsError('LEASE_TIMEOUT', `no answer within ${limitMs} ms`));
      try {
        // Only what our own write returned is known for sure; after anything else the lease is read again.
        if (known?.spec?.holderIdentity !== identity) note(await kube.get<Lease>(place, name, life.signal));
        const nowMs = clock.monotonic();
        const decision = decideLease({
          lease: known,
          observation: sighting,
          me: identity,
          pod,
          nowMs,
          wallMs: clock.now(),
          timing,
        });
        if (decision.do === 'wait') return false;
        // Also where the answer is lost: then the lease is found to be ours.
        if (decision.do === 'take') ahead = aheadOf(clock.now(), known);
        note(await write(decision, life.signal));
        return true;
      } catch (error) {
        known = null;
        throw error;
      } finally {
        life.end();
      }
    },
    async release() {
      const spec = releasedSpec(clock.now());
      const life = createLifetime(clock, undefined, () => undefined);
      life.cutAfter(timing.renewMs / 2, () => undefined);
      const give = (lease: Lease) => (lease.spec?.holderIdentity === identity ? { spec } : null);
      try {
        await mergePatchLatest<Lease>(kube, place, name, give, { clock, random, signal: life.signal });
      } finally {
        life.end();
      }
    },
  };
}

function aheadOf(now: Millis, before: Lease | null): Millis {
  const ahead = now - (fromTimestamp(before?.spec?.renewTime) ?? now);
  return Math.abs(ahead) < AGREED_MS ? 0 : ahead;
}
