import type { DBusValue } from '#agent/host/dbus/value.ts';
import { numberProperty, startTimeoutSeconds, textProperty } from './systemd-status.ts';

type Properties = ReadonlyMap<DBusValue, DBusValue>;

/**
 * Why the agent does not support a kubelet in this unit, and what to do about that; undefined if it does. Checked
 * before anything is changed: each of these would show only when the kubelet is down.
 *
 * @param isGuarded whether the guard is to run before each start of the kubelet
 */
export function whyUnitUnsupported(unit: string, properties: Properties, isGuarded: boolean): string | undefined {
  const load = notLoaded(unit, textProperty(properties, 'LoadState') ?? '');
  return load ?? unsuited(unit, properties) ?? (isGuarded ? tooQuick(unit, properties) : undefined);
}

function notLoaded(unit: string, load: string): string | undefined {
  switch (load) {
    case 'loaded':
      return undefined;
    case 'masked':
      return `${unit} is masked, so nobody can start it: unmask it, or ${NAME}`;
    case 'not-found':
      return `systemd knows no unit ${unit}: ${NAME}`;
    default:
      return `systemd cannot use ${unit} (LoadState=${load}): see "systemctl status ${unit}", or ${NAME}`;
  }
}

function unsuited(unit: string, properties: Properties): string | undefined {
  if (textProperty(properties, 'Type') === 'oneshot') {
    return `${unit} has Type=oneshot, so systemd does not follow the kubelet: ${NAME}`;
  }
  if (properties.has('CanStart') && !(isTrue(properties, 'CanStart') && isTrue(properties, 'CanStop'))) {
    return `systemd lets nobody restart ${unit}: take RefuseManualStart= and RefuseManualStop= out of its file`;
  }
  const action = REBOOTING.find((name) => (textProperty(properties, name) ?? 'none') !== 'none');
  if (action !== undefined) {
    const what = `${action}=${textProperty(properties, action)}`;
    return `${unit} has ${what}: a config that the kubelet does not start with would do that again and again. Take it out`;
  }
  const isActive = textProperty(properties, 'ActiveState') === 'active';
  if (isActive && numberProperty(properties, 'MainPID') === 0) {
    return `${unit} is active without a main process, so systemd does not follow the kubelet: ${NAME}`;
  }
  return undefined;
}

function tooQuick(unit: string, properties: Properties): string | undefined {
  const timeout = startTimeoutSeconds(properties);
  if (timeout >= LEAST_START_TIMEOUT) return undefined;
  return (
    `${unit} has TimeoutStartSec=${timeout}, which leaves the guard too little time before each start of the kubelet: ` +
    `set ${LEAST_START_TIMEOUT} s or more`
  );
}

const NAME = "name the kubelet's unit in KUBELET_SERVICE";

/** A machine that is rebooted at each failure never gets far enough for anybody to count failures. */
const REBOOTING = ['FailureAction', 'StartLimitAction'];

/** In seconds. The guard may take a third of it. */
const LEAST_START_TIMEOUT = 15;

const isTrue = (properties: Properties, name: string): boolean =>
  (properties.get(name) as { readonly value?: unknown } | undefined)?.value === true;
