import { BUS, type BusConnection, refusalName } from '#agent/host/dbus/connection.ts';
import type { BusLink } from '#agent/host/dbus/link.ts';
import type { DBusValue } from '#agent/host/dbus/value.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';

/** The words of `org.freedesktop.systemd1` that are used here; each equals the `systemctl` command named with it. */
export const MANAGER = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
} as const;

const PROPERTIES = 'org.freedesktop.DBus.Properties';

/** `systemctl show`: all properties of the unit, whatever its type, as they are at one moment. */
export async function readUnit(
  connection: BusConnection,
  unit: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<DBusValue, DBusValue>> {
  const path = await pathOf(connection, unit, signal);
  const { destination } = MANAGER;
  const getAll = { destination, path, interface: PROPERTIES, member: 'GetAll', signature: 's', body: [''] };
  const [properties] = await connection.call(getAll, signal);
  return properties instanceof Map ? properties : new Map();
}

const LOGIND = {
  destination: 'org.freedesktop.login1',
  path: '/org/freedesktop/login1',
  interface: 'org.freedesktop.login1.Manager',
} as const;

/**
 * `systemctl reboot`: through logind, which waits for those who asked for time before a shutdown (the kubelet's graceful node
 * shutdown does), and through systemd itself where there is no logind.
 *
 * @throws GitopsError SERVICE_UNREACHABLE, SERVICE_DENIED
 */
export async function rebootMachine(link: BusLink, signal: AbortSignal): Promise<void> {
  let connection: BusConnection;
  try {
    connection = await link.connection(signal);
  } catch (error) {
    throw new GitopsError('SERVICE_UNREACHABLE', `systemd cannot be told to reboot: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  try {
    await connection.call({ ...LOGIND, member: 'Reboot', signature: 'b', body: [false] }, signal);
    return;
  } catch (error) {
    const name = refusalName(error);
    if (name === undefined || LOGIND_SAYS_NO.some((no) => name.endsWith(no))) throw notRebooted(error);
  }
  const body = ['reboot.target', 'replace-irreversibly'];
  try {
    await connection.call({ ...MANAGER, member: 'StartUnit', signature: 'ss', body }, signal);
  } catch (error) {
    throw notRebooted(error);
  }
}

/** A logind that says no is heeded. Anything else means that there is none, which every bus says in other words. */
const LOGIND_SAYS_NO = ['.AccessDenied', '.InteractiveAuthorizationRequired', '.AuthFailed', '.BlockedByInhibitorLock'];

const notRebooted = (error: unknown): GitopsError =>
  new GitopsError('SERVICE_DENIED', `systemd does not reboot the machine: ${reasonOf(error)}`, { cause: error });

/** `systemctl set-property --runtime`, of a property that is a number. */
export async function setUnitProperty(
  connection: BusConnection,
  unit: string,
  [property, value]: readonly [string, bigint],
  signal: AbortSignal,
): Promise<void> {
  const body = [unit, true, [[property, { signature: 't', value }]]];
  await connection.call({ ...MANAGER, member: 'SetUnitProperties', signature: 'sba(sv)', body }, signal);
}

/** `systemctl daemon-reload`. Resolves when it is done. */
export async function reloadUnits(connection: BusConnection, signal: AbortSignal): Promise<void> {
  await connection.call({ ...MANAGER, member: 'Reload' }, signal);
}

/** `systemctl stop --no-block`; a unit that systemd does not know is stopped. */
export async function stopUnit(connection: BusConnection, unit: string, signal: AbortSignal): Promise<void> {
  try {
    await connection.call({ ...MANAGER, member: 'StopUnit', signature: 'ss', body: [unit, 'replace'] }, signal);
  } catch (error) {
    if (refusalName(error) !== 'org.freedesktop.systemd1.NoSuchUnit') throw error;
  }
}

/**
 * Calls back at every change of the unit's state that systemd tells of.
 *
 * @returns stops it, as far as this side goes; the bus forgets when the connection ends
 */
export async function followUnit(
  connection: BusConnection,
  unit: string,
  changed: () => void,
  signal: AbortSignal,
): Promise<() => void> {
  const path = await pathOf(connection, unit, signal);
  const rule = `type='signal',sender='${MANAGER.destination}',path='${path}',interface='${PROPERTIES}'`;
  await connection.call({ ...BUS, member: 'AddMatch', signature: 's', body: [rule] }, signal);
  try {
    // Without a subscriber systemd keeps such signals to itself.
    await connection.call({ ...MANAGER, member: 'Subscribe' }, signal);
  } catch (error) {
    if (refusalName(error) !== 'org.freedesktop.systemd1.AlreadySubscribed') throw error;
  }
  return connection.onSignal((message) => {
    if (message.path === path && message.member === 'PropertiesChanged') changed();
  });
}

/** Loads the unit's file where that has not happened yet; a unit that does not exist has a path, too. */
async function pathOf(connection: BusConnection, unit: string, signal: AbortSignal): Promise<string> {
  const [path] = await connection.call({ ...MANAGER, member: 'LoadUnit', signature: 's', body: [unit] }, signal);
  if (typeof path !== 'string') throw new GitopsError('BUS_PROTOCOL', `systemd gave no path for the unit ${unit}`);
  return path;
}
