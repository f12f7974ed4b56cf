import { isKubeError } from '#shared/kube/kube-error.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import { LEASE_TIMING, type LeaseTiming } from './lease-times.ts';
import { createLeaseClient, type LeaseClientOptions } from './lease-client.ts';

interface HoldLeaseOptions extends Omit<LeaseClientOptions, 'timing'> {
  readonly log: Log;
  readonly timing?: LeaseTiming;
  /** @param ahead see `LeaseClient` */
  readonly onGained?: (ahead: Millis) => void;
  /** The lead is lost (not: given back). Writes under way may still arrive: each must carry a resourceVersion. */
  readonly onLost?: () => void;
}

export interface LeaseHold {
  /**
   * Whether this process may write now. Ask right before every write. True only within the renew time after the last
   * renewal that succeeded, counted from when it was sent: it turns false by itself, also in a process that was stopped.
   */
  isLeader(): boolean;
  /**
   * Gives the lead back, for good: this process leads no more. If it still runs after others had their time to take over, that is
   * `onLost`, because what it remembers is out of date. Never rejects.
   */
  handOver(): Promise<void>;
  /** Who leads as far as is known, for people; undefined before the lease was read, '' without a leader. */
  holder(): string | undefined;
  /** Resolves when the lease is given back after the signal; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Tries to get and to keep a Lease for as long as the signal does not abort, as client-go's leader election does: same
 * object, same timing, so that either kind of replica respects the other.
 */
export function holdLease(options: HoldLeaseOptions): LeaseHold {
  const { clock, signal, random, log, identity, timing = LEASE_TIMING, onGained, onLost } = options;
  const lease = createLeaseClient({ ...options, timing });
  let leadingUntilMs: Millis = Number.NEGATIVE_INFINITY;
  let led = false;
  let lastFault: string | undefined;
  let underWay: Promise<void> = Promise.resolve();
  const handedOver = new AbortController();
  const over = AbortSignal.any([signal, handedOver.signal]);

  const leading = (): boolean => !handedOver.signal.aborted && clock.monotonic() < leadingUntilMs;

  const tell = (): void => {
    if (leading() === led) return;
    led = !led;
    if (led) log.info({ identity, lease: options.name }, 'leading');
    else log.warn({ identity, lease: options.name, holder: lease.holder() }, 'lead lost');
    if (led) onGained?.(lease.ahead());
    else onLost?.();
  };

  const attempt = async (): Promise<void> => {
    const sentMs = clock.monotonic();
    const patienceMs = timing.renewMs / 2;
    try {
      const held = await lease.step(led ? Math.min(patienceMs, leadingUntilMs - sentMs) : patienceMs);
      leadingUntilMs = held ? sentMs + timing.renewMs : Number.NEGATIVE_INFINITY;
      lastFault = undefined;
    } catch (error) {
      if (signal.aborted || isKubeError(error, 'KUBE_CONFLICT', 'KUBE_ALREADY_EXISTS')) return;
      const fault = codeOf(error) ?? 'unknown';
      log[fault === lastFault ? 'debug' : 'warn']({ lease: options.name, err: error }, 'lease not reached');
      lastFault = fault;
    }
  };

  const giveBack = (): Promise<void> =>
    lease.release().catch((error: unknown) => log.debug({ err: error }, 'lease not given back'));

  const run = async (): Promise<void> => {
    while (!over.aborted) {
      underWay = attempt();
      await underWay;
      if (over.aborted) break;
      tell();
      const pauseMs = led ? timing.retryMs : timing.retryMs * (1 + JITTER * random());
      await clock.sleep(led ? Math.min(pauseMs, leadingUntilMs - clock.monotonic()) : pauseMs, over);
      if (!over.aborted) tell();
    }
    if (handedOver.signal.aborted) {
      await clock.sleep(timing.leaseMs, signal);
      if (!signal.aborted) onLost?.();
      return;
    }
    if (leading()) await giveBack();
  };

  return {
    isLeader: () => !signal.aborted && leading(),
    async handOver() {
      if (!leading()) return;
      handedOver.abort();
      log.info({ identity, lease: options.name }, 'lead handed over');
      // A renewal that is on its way must not take back what is given.
      await underWay;
      await giveBack();
    },
    holder: () => lease.holder(),
    ended: run(),
  };
}

/** client-go's JitterFactor: those who wait come one after the other. */
const JITTER = 1.2;
