import { constants } from 'node:os';
import type { DBusValue, Variant } from '#agent/host/dbus/value.ts';
import type { ServiceStatus } from '../ports/kubelet-service.ts';

type Properties = ReadonlyMap<DBusValue, DBusValue>;

/**
 * What the properties of a unit mean (org.freedesktop.systemd1(5)). Versions of systemd that lack one are fine:
 * `NRestarts` came with 235, `InvocationID` with 232.
 */
export function statusFromProperties(properties: Properties): ServiceStatus {
  const unit = textProperty(properties, 'Id') ?? 'the unit';
  const load = textProperty(properties, 'LoadState');
  if (load !== 'loaded') {
    return {
      state: 'unknown',
      run: null,
      automaticRestarts: null,
      reason: load === 'not-found' ? `systemd knows no unit ${unit}` : `systemd has not loaded ${unit}: ${load ?? '?'}`,
    };
  }
  const lastExit = exitOf(properties);
  const state = stateOf(properties);
  return {
    state,
    ...(state === 'stopped' && wasStopped(properties) ? { wasStopped: true } : {}),
    run: runOf(properties),
    ...pidOf(properties),
    automaticRestarts: numberProperty(properties, 'NRestarts') ?? null,
    ...(lastExit === undefined ? {} : { lastExit }),
    ...((textProperty(properties, 'SubState') ?? '').startsWith('auto-restart') ? { awaitsRestart: true } : {}),
  };
}

function stateOf(properties: Properties): ServiceStatus['state'] {
  switch (textProperty(properties, 'ActiveState') ?? '') {
    case 'active':
    case 'reloading':
    case 'refreshing':
      return 'running';
    // Waiting for the next automatic restart included.
    case 'activating':
      return 'starting';
    // On the way down, or down: unless it is to come up again.
    case 'deactivating':
    case 'inactive':
      return hasJob(properties) ? 'starting' : 'stopped';
    case 'failed':
      return hasJob(properties) ? 'starting' : 'failed';
    default:
      return 'unknown';
  }
}

/**
 * `systemctl stop`, the stop of a unit that this one needs, and a unit that was never started all end in `inactive` with
 * the result `success`. A kubelet that fails ends in `failed`, or waits for its next start.
 */
const wasStopped = (properties: Properties): boolean =>
  textProperty(properties, 'ActiveState') === 'inactive' && textProperty(properties, 'Result') === 'success';

/** 0 where there is no process. */
function mainPid(properties: Properties): number {
  const pid = numberProperty(properties, 'MainPID') ?? 0;
  return Number.isSafeInteger(pid) && pid > 0 ? pid : 0;
}

function pidOf(properties: Properties): { readonly pid?: number } {
  const pid = mainPid(properties);
  return pid === 0 ? {} : { pid };
}

/** systemd draws a new invocation id for every start, automatic ones included. */
function runOf(properties: Properties): string | null {
  const pid = mainPid(properties);
  if (pid === 0) return null;
  const invocation = propertyOf(properties, 'InvocationID');
  if (invocation instanceof Uint8Array && invocation.some((byte) => byte !== 0)) {
    return Buffer.from(invocation).toString('hex');
  }
  const started = propertyOf(properties, 'ExecMainStartTimestampMonotonic');
  return `${pid}@${typeof started === 'bigint' ? started : 0}`;
}

/** Known between an end and the next start only: a start takes it back. */
function exitOf(properties: Properties): string | undefined {
  const how = EXITS[numberProperty(properties, 'ExecMainCode') ?? 0];
  if (how === undefined) return undefined;
  const status = numberProperty(properties, 'ExecMainStatus') ?? 0;
  const exit = how === 'exit-code' ? `${how} ${status}` : `${how} ${signalName(status)}`;
  const result = textProperty(properties, 'Result') ?? '';
  return TELLING_RESULTS.has(result) ? `${exit}, ${result}` : exit;
}

/** CLD_EXITED, CLD_KILLED, CLD_DUMPED of waitid(2). */
const EXITS: Readonly<Record<number, string>> = { 1: 'exit-code', 2: 'signal', 3: 'core-dump' };

/** What the end of the process does not say by itself. */
const TELLING_RESULTS = new Set(['start-limit-hit', 'oom-kill', 'timeout', 'watchdog', 'protocol', 'resources']);

function signalName(number: number): string {
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name === undefined ? String(number) : name.replace(/^SIG/, '');
}

/** `(uo)`: id and path of the job that is queued or at work; 0 where there is none. */
function hasJob(properties: Properties): boolean {
  const job = propertyOf(properties, 'Job');
  return Array.isArray(job) && job[0] !== 0;
}

/** `TimeoutStartSec=`: for how many seconds each command of a start may run; without an end where this systemd names none. */
export function startTimeoutSeconds(properties: Properties): number {
  const micros = propertyOf(properties, 'TimeoutStartUSec');
  // For no limit, systemd up to version 228 says 0, and later versions the largest number.
  return typeof micros !== 'bigint' || micros === 0n ? Infinity : Number(micros) / 1e6;
}

/** Each property comes as a variant. */
export function propertyOf(properties: Properties, name: string): DBusValue | undefined {
  return (properties.get(name) as Variant | undefined)?.value;
}

/** A property that is a text; undefined where this systemd does not have it. */
export function textProperty(properties: Properties, name: string): string | undefined {
  const value = propertyOf(properties, name);
  return typeof value === 'string' ? value : undefined;
}

/** A property that is a number of at most 32 bits; undefined where this systemd does not have it. */
export function numberProperty(properties: Properties, name: string): number | undefined {
  const value = propertyOf(properties, name);
  return typeof value === 'number' ? value : undefined;
}
