import type { Finding } from '#shared/contract/finding.ts';
import type { Composed } from '#shared/contract/kubelet-config/merge.ts';
import { formatPath, type Path } from '#shared/contract/kubelet-config/position.ts';
import { parsePercentage } from '#shared/contract/kubelet-config/syntax/percentage.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { isMap } from '#shared/runtime/maps.ts';

interface Doubt {
  readonly at: Path;
  readonly code: 'fractional-bytes' | 'doubtful-value';
  readonly message: string;
  readonly suggestion?: string;
}

/**
 * Values that every kubelet takes and that are almost surely a slip: half a byte, five bytes of memory, all alpha features at once. No agent
 * asks this, and a node's own config is not judged by it: it is for authors and reviewers.
 *
 * @param file of the pool, for what no layer says
 */
export function suspiciousValues(
  { value, positionOf }: Pick<Composed, 'value' | 'positionOf'>,
  file: string,
): readonly Finding[] {
  return [...bytes(value), ...thresholds(value), ...numbers(value), ...gates(value)].map(({ at, code, ...rest }) => ({
    code,
    severity: code === 'fractional-bytes' ? 'error' : 'warning',
    ...rest,
    file,
    ...positionOf(at),
    field: formatPath(at),
  }));
}

type Config = Composed['value'];

const RESERVED = ['kubeReserved', 'systemReserved'];
const EVICTION = ['evictionHard', 'evictionSoft', 'evictionMinimumReclaim'];
const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'imagefs.available',
  'containerfs.available',
];
const isOfBytes = (resource: string): boolean =>
  resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');

/** Every amount of bytes in a map. */
function* amounts(config: Config): Iterable<readonly [Path, string]> {
  for (const field of [...RESERVED, ...EVICTION]) {
    const isBytes = RESERVED.includes(field) ? isOfBytes : (signal: string): boolean => SIGNALS.includes(signal);
    for (const [key, amount] of entriesOf(config[field])) if (isBytes(key)) yield [[field, key], amount];
  }
  const perNode = config['reservedMemory'];
  for (const [index, item] of (Array.isArray(perNode) ? perNode : []).entries()) {
    const limits = isMap(item) ? item['limits'] : undefined;
    for (const [key, amount] of entriesOf(limits))
      if (isOfBytes(key)) yield [['reservedMemory', index, 'limits', key], amount];
  }
}

const entriesOf = (map: unknown): readonly (readonly [string, string])[] =>
  isMap(map)
    ? Object.entries(map).flatMap(([key, amount]) => (typeof amount === 'string' ? [[key, amount] as const] : []))
    : [];

const MEBIBYTE = 2 ** 20;

function* bytes(config: Config): Iterable<Doubt> {
  for (const [at, amount] of amounts(config)) {
    const size = amount.includes('%') ? undefined : parseQuantity(amount.trim());
    if (size === undefined || size <= 0 || size >= MEBIBYTE) continue;
    const digits = /^(\d+)[munMUN]?$/.exec(amount.trim())?.[1];
    const meant = digits === undefined ? {} : { suggestion: `did you mean ${digits}Mi?` };
    if (Number.isInteger(size)) {
      yield { at, code: 'doubtful-value', message: `${amount} is ${size} ${size === 1 ? 'byte' : 'bytes'}`, ...meant };
    } else {
      yield {
        at,
        code: 'fractional-bytes',
        message: `${amount} is not a whole number of bytes: m means thousandths`,
        ...meant,
      };
    }
  }
}

/** Half of a machine for nothing, or pods that leave while half of it is free. */
const MOST_PERCENT = 50;

function* thresholds(config: Config): Iterable<Doubt> {
  for (const field of ['evictionHard', 'evictionSoft']) {
    for (const [signal, amount] of entriesOf(config[field])) {
      const percent = parsePercentage(amount);
      if (percent === undefined || percent <= MOST_PERCENT || percent >= 100) continue;
      const message = `pods are evicted as soon as less than ${amount} of ${signal.replace(/\.\w+$/, '')} is free`;
      yield { at: [field, signal], code: 'doubtful-value', message };
    }
  }
}

/** Fewer descriptors than a kubelet opens for itself and a handful of pods. */
const FEWEST_FILES = 1_000;

function* numbers({ maxPods, maxOpenFiles }: Config): Iterable<Doubt> {
  if (maxPods === 0) {
    yield {
      at: ['maxPods'],
      code: 'doubtful-value',
      message: '0 means the default to the kubelet, 110',
      suggestion: 'write how many pods may run, 1 at least',
    };
  }
  if (typeof maxOpenFiles === 'number' && maxOpenFiles > 0 && maxOpenFiles < FEWEST_FILES) {
    const message = `${maxOpenFiles} open files are too few for a kubelet with pods: it fails once they are used up`;
    yield { at: ['maxOpenFiles'], code: 'doubtful-value', message, suggestion: 'leave it out: the default is 1000000' };
  }
}

function* gates({ featureGates }: Config): Iterable<Doubt> {
  if (!isMap(featureGates)) return;
  if (featureGates['AllAlpha'] === true) {
    const message = 'AllAlpha turns on every feature that is in alpha, and others with each minor version';
    yield {
      at: ['featureGates', 'AllAlpha'],
      code: 'doubtful-value',
      message,
      suggestion: 'name the gates that you need',
    };
  }
}
