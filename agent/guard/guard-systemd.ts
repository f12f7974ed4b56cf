import { type BusConnection, connectBus } from '#agent/host/dbus/connection.ts';
import { SYSTEM_BUS } from '#agent/host/dbus/link.ts';
import { propertyOf, startTimeoutSeconds } from '#agent/kubelet/systemd-status.ts';
import { readUnit, reloadUnits, setUnitProperty, stopUnit } from '#agent/kubelet/systemd-unit.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';

/** What the guard needs of the host's systemd. Each @throws GitopsError `GUARD_SYSTEMD` */
export interface GuardSystemd {
  /** `systemctl daemon-reload`; resolves when all units are read again. */
  daemonReload(): Promise<void>;
  /** `systemctl --no-block stop`; a unit that is not there is fine. */
  stopUnit(name: string): Promise<void>;
  /** Paths of the drop-ins that systemd has read for a unit, as the host has them. */
  dropInsOf(unit: string): Promise<readonly string[]>;
  /** Its `TimeoutStartSec=`, in seconds; may be infinite. */
  startTimeoutOf(unit: string): Promise<number>;
}

/** What the agent itself needs besides. */
export interface HostSystemd extends GuardSystemd {
  /** `systemctl set-property --runtime`, of a property that is a number. */
  setProperty(unit: string, property: string, value: bigint): Promise<void>;
}

interface GuardSystemdOptions {
  /** Of the system bus. Default `/run/dbus/system_bus_socket`. */
  readonly socketPath?: string;
  readonly clock: Clock;
  /** For each thing asked. Default 30 s: reading all units again takes its time on a busy host. */
  readonly timeoutMs?: Millis;
}

/** It is asked a few times in each trial, so that no connection is kept. */
export function createGuardSystemd({
  socketPath = SYSTEM_BUS,
  clock,
  timeoutMs = 30_000,
}: GuardSystemdOptions): HostSystemd {
  const ask = async <T>(
    what: string,
    question: (connection: BusConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const { signal } = new AbortController();
    let connection: BusConnection | undefined;
    try {
      connection = await connectBus({ socketPath, clock, timeoutMs }, signal);
      return await question(connection, signal);
    } catch (error) {
      const message = `systemd cannot be asked to ${what}: ${reasonOf(error)}`;
      throw new GitopsError('GUARD_SYSTEMD', message, { cause: error });
    } finally {
      connection?.close();
    }
  };
  return {
    daemonReload: () => ask('read its units again', reloadUnits),
    stopUnit: (name) => ask(`stop ${name}`, (connection, signal) => stopUnit(connection, name, signal)),
    setProperty: (unit, property, value) =>
      ask(`set ${property} of ${unit}`, (connection, signal) =>
        setUnitProperty(connection, unit, [property, value], signal),
      ),
    dropInsOf: (unit) =>
      ask(`show ${unit}`, async (connection, signal) => {
        const paths = propertyOf(await readUnit(connection, unit, signal), 'DropInPaths');
        return Array.isArray(paths) ? paths.filter((path): path is string => typeof path === 'string') : [];
      }),
    startTimeoutOf: (unit) =>
      ask(`show ${unit}`, async (connection, signal) => startTimeoutSeconds(await readUnit(connection, unit, signal))),
  };
}
