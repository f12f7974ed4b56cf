import type { DisruptionClass, DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { readDuration, readList, readWord } from './read-scalars.ts';
import { type FileReport, readMap } from './file-report.ts';

const CLASSES = ['restart', 'drain', 'reboot'] as const;
const KEYS = ['allow', 'drainTimeout', 'reboot'] as const;
const DEFAULT_DRAIN_TIMEOUT = '10m';
/** kured looks at its sentinel once an hour by default; machines take minutes. */
const DEFAULT_REBOOT_TIMEOUT = '1h';
const REBOOTS = ['systemd', 'sentinel'] as const;

/** What a change may do to a node. */
export function readDisruption(value: unknown, path: Path, report: FileReport): DisruptionSpec | undefined {
  const disruption = readMap(value, path, KEYS, report);
  if (disruption === undefined) return undefined;
  const at = (key: string): Path => [...path, key];
  const allow = readClasses(disruption.allow, at('allow'), report);
  const reboot = readReboot(disruption.reboot, at('reboot'), report);
  if (allow.includes('reboot') && reboot === undefined) {
    const message = 'reboot is allowed, and nothing says how a node is rebooted';
    report.error(
      'missing-partner',
      at('reboot'),
      message,
      'write {by: systemd}, or {by: sentinel} for a reboot daemon',
    );
  }
  const rule = { zero: 'refused', default: DEFAULT_DRAIN_TIMEOUT } as const;
  return {
    allow,
    drainTimeout: readDuration(disruption.drainTimeout, at('drainTimeout'), rule, report),
    ...(reboot === undefined ? {} : { reboot }),
  };
}

/** In the order of what they cost, whatever order they are written in. */
function readClasses(value: unknown, path: Path, report: FileReport): readonly DisruptionClass[] {
  if (value === undefined) return ['restart'];
  const written = readList(value, path, report).map(([item, at]) => {
    if (item === undefined) report.error('unknown-value', at, 'there is nothing', `write ${CLASSES.join(' or ')}`);
    return readWord(item, at, CLASSES, report);
  });
  if (Array.isArray(value) && !written.includes('restart')) {
    const message = 'restart is not among them, and every change restarts the kubelet';
    report.error('missing-partner', path, message, 'add restart; to change nothing, write suspend: true');
  }
  return CLASSES.filter((name) => written.includes(name));
}

function readReboot(value: unknown, path: Path, report: FileReport): DisruptionSpec['reboot'] {
  const reboot = readMap(value, path, ['by', 'timeout'], report);
  if (reboot === undefined) return undefined;
  if (reboot.by === undefined) {
    report.error(
      'missing-field',
      path,
      'reboot does not say who reboots machines',
      'write by: systemd, or by: sentinel',
    );
  }
  const rule = { zero: 'refused', default: DEFAULT_REBOOT_TIMEOUT } as const;
  return {
    by: readWord(reboot.by, [...path, 'by'], REBOOTS, report),
    timeout: readDuration(reboot.timeout, [...path, 'timeout'], rule, report),
  };
}
