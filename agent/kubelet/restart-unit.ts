import { type BusConnection, refusalName } from '#agent/host/dbus/connection.ts';
import type { BusLink } from '#agent/host/dbus/link.ts';
import { type Disposition, GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { MANAGER } from './systemd-unit.ts';

/**
 * `systemctl reset-failed` and `systemctl restart --no-block`. The first lets a unit start again that was started too
 * often (start-limit-hit); a restart alone would be refused.
 *
 * @param member `StartUnit` leaves a unit that runs alone
 * @throws GitopsError SERVICE_UNREACHABLE, SERVICE_NOT_FOUND, SERVICE_DENIED, SERVICE_RESTART_FAILED
 */
export async function restartUnit(
  link: BusLink,
  unit: string,
  signal: AbortSignal,
  member: 'RestartUnit' | 'StartUnit' = 'RestartUnit',
): Promise<void> {
  let connection: BusConnection;
  try {
    connection = await link.connection(signal);
  } catch (error) {
    throw new GitopsError('SERVICE_UNREACHABLE', `cannot restart ${unit}: ${reasonOf(error)}`, { cause: error });
  }
  try {
    await connection.call({ ...MANAGER, member: 'ResetFailedUnit', signature: 's', body: [unit] }, signal);
  } catch (error) {
    // Not loaded: there is nothing to reset, and the restart loads it.
    if (refusalName(error) !== 'org.freedesktop.systemd1.NoSuchUnit') throw notRestarted(unit, error);
  }
  try {
    await connection.call({ ...MANAGER, member, signature: 'ss', body: [unit, 'replace'] }, signal);
  } catch (error) {
    throw notRestarted(unit, error);
  }
}

const DENIALS = ['.AccessDenied', '.InteractiveAuthorizationRequired', '.AuthFailed'];
function notRestarted(unit: string, error: unknown): GitopsError {
  const name = refusalName(error) ?? '';
  const operator: Disposition = { kind: 'stalled', until: 'operator' };
  if (name === 'org.freedesktop.systemd1.NoSuchUnit') {
    const message = `systemd knows no unit ${unit}: name the kubelet's unit in KUBELET_SERVICE`;
    return new GitopsError('SERVICE_NOT_FOUND', message, { cause: error, disposition: operator });
  }
  if (DENIALS.some((denial) => name.endsWith(denial))) {
    const message =
      `systemd does not let the agent restart ${unit} (${reasonOf(error)}): the agent has to run as root, ` +
      'and neither AppArmor nor SELinux may confine it';
    return new GitopsError('SERVICE_DENIED', message, { cause: error, disposition: operator });
  }
  return new GitopsError('SERVICE_RESTART_FAILED', `cannot restart ${unit}: ${reasonOf(error)}`, { cause: error });
}
