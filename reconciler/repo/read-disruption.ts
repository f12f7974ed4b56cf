import type { DisruptionClass, DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Path } from '#shared/contract/kubelet-config/decode/position.ts';
import { show } from '#shared/contract/kubelet-config/decode/show.ts';
import { isQualifiedName } from '#shared/contract/kubelet-config/syntax/names.ts';
import { readDuration, readList, readText, readWord } from './read-scalars.ts';
import { type FileReport, readMap } from './report.ts';

const CLASSES = ['restart', 'drain', 'reboot'] as const;
const KEYS = ['allow', 'drainTimeout', 'rebootAnnotation'] as const;
const DEFAULT_DRAIN_TIMEOUT = '10m';
const LONGEST_VALUE = 1024;

/** What a change may do to a node. */
export function readDisruption(value: unknown, path: Path, report: FileReport): DisruptionSpec | undefined {
  const disruption = readMap(value, path, KEYS, report);
  if (disruption === undefined) return undefined;
  const at = (key: string): Path => [...path, key];
  const allow = readClasses(disruption.allow, at('allow'), report);
  const annotation = readAnnotation(disruption.rebootAnnotation, at('rebootAnnotation'), report);
  if (allow.includes('reboot') && annotation === undefined) {
    const message = 'reboot is allowed, and nothing says how a node is rebooted';
    report.error(
      'missing-partner',
      at('rebootAnnotation'),
      message,
      'name the annotation that a reboot daemon waits for',
    );
  }
  const rule = { zero: 'refused', default: DEFAULT_DRAIN_TIMEOUT } as const;
  return {
    allow,
    drainTimeout: readDuration(disruption.drainTimeout, at('drainTimeout'), rule, report),
    ...(annotation === undefined ? {} : { rebootAnnotation: annotation }),
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

function readAnnotation(value: unknown, path: Path, report: FileReport): DisruptionSpec['rebootAnnotation'] {
  const annotation = readMap(value, path, ['key', 'value'], report);
  if (annotation === undefined) return undefined;
  const { key } = annotation;
  if (typeof key !== 'string' || !isQualifiedName(key)) {
    const message = key === undefined ? 'the annotation has no key' : `${show(key)} is no annotation key`;
    report.error('bad-label', [...path, 'key'], message, 'write name or example.com/name');
  }
  if (annotation.value === undefined) report.error('missing-field', path, 'the annotation has no value');
  const text = readText(annotation.value, [...path, 'value'], { longest: LONGEST_VALUE }, report);
  return { key: typeof key === 'string' ? key : '', value: text ?? '' };
}
