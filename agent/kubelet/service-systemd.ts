import { createBusLink, SYSTEM_BUS } from '#agent/host/dbus/link.ts';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import { type Clock, type Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { KubeletService } from '../ports/kubelet-service.ts';
import { statusFromProperties } from './systemd-status.ts';
import { whyUnitUnsupported } from './unsupported-unit.ts';
import { restartUnit } from './restart-unit.ts';
import { followUnit, readUnit, rebootMachine } from './systemd-unit.ts';

interface SystemdServiceOptions {
  /** Of the system bus. Default `/run/dbus/system_bus_socket`. */
  readonly socketPath?: string;
  /** `kubelet.service`. */
  readonly unit: string;
  /** Whether the guard is to run before each start of the kubelet. Default: it is. */
  readonly isGuarded?: boolean;
  readonly clock: Clock;
  /** In [0, 1), for the delay between two tries to reach the bus. */
  readonly random: () => number;
  readonly log: Log;
  /** For each thing asked of systemd. Default 2 s. */
  readonly timeoutMs?: Millis;
}

/** The kubelet's unit, and an end: it keeps a connection to the system bus. */
export interface SystemdService extends KubeletService {
  /** Why the unit is not supported; undefined if it is. @throws if systemd cannot be asked */
  unfitness(signal: AbortSignal): Promise<string | undefined>;
  /** Has the machine reboot, in order. @throws GitopsError `SERVICE_*` */
  reboot(because: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** systemd says at once when something happens; this is for signals that were missed. */
const POLL_MS = 10_000;

const RECONNECT = { firstMs: 200, maxMs: 30_000, jitter: 0.5 };

/**
 * The kubelet as a unit of systemd, over the system bus's socket: no `systemctl` in the image, no access to the host's
 * processes. systemd lets root restart units, with or without capabilities.
 */
export function createSystemdService(options: SystemdServiceOptions): SystemdService {
  const { unit, isGuarded = true, clock, random, log, timeoutMs } = options;
  const socketPath = options.socketPath ?? SYSTEM_BUS;
  const link = createBusLink({ socketPath, clock, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const end = new AbortController();

  const follow = async (changed: () => void, signal: AbortSignal): Promise<void> => {
    let faults = 0;
    while (!signal.aborted) {
      try {
        const connection = await link.connection(signal);
        const unfollow = await followUnit(connection, unit, changed, signal);
        faults = 0;
        // Changes from before are not reported.
        changed();
        await aborted(AbortSignal.any([connection.closed, signal]));
        unfollow();
        if (!signal.aborted) changed();
      } catch (error) {
        faults += 1;
        if (faults === 1 && !signal.aborted) log.warn({ reason: reasonOf(error) }, 'systemd cannot be followed');
      }
      await clock.sleep(backoffDelay(Math.max(faults, 1), RECONNECT, random()), signal);
    }
  };

  return {
    pollMs: POLL_MS,
    async status(signal) {
      try {
        return statusFromProperties(await readUnit(await link.connection(signal), unit, signal));
      } catch (error) {
        return { state: 'unknown', run: null, automaticRestarts: null, reason: reasonOf(error) };
      }
    },
    async unfitness(signal) {
      return whyUnitUnsupported(unit, await readUnit(await link.connection(signal), unit, signal), isGuarded);
    },
    async restart(because, signal) {
      log.info({ unit, reason: because }, 'restarting the kubelet');
      await restartUnit(link, unit, signal);
    },
    async start(because, signal) {
      log.info({ unit, reason: because }, 'starting the kubelet');
      await restartUnit(link, unit, signal, 'StartUnit');
    },
    async reboot(because, signal) {
      log.warn({ reason: because }, 'rebooting the machine');
      await rebootMachine(link, signal);
    },
    watch(changed) {
      const stop = new AbortController();
      void follow(changed, AbortSignal.any([stop.signal, end.signal]));
      return () => stop.abort();
    },
    close() {
      end.abort();
      link.close();
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
