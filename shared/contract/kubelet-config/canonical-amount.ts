import { FIELDS } from './fields/fields.ts';
import { parseGoDuration } from './syntax/go-duration.ts';
import { parseQuantity, trimmedQuantity } from './syntax/quantity.ts';

/** Texts to the kubelet's types, in which it reads quantities when it starts. Percentages in them stay texts. */
const SIZES: ReadonlySet<string> = new Set([
  'containerLogMaxSize',
  'kubeReserved',
  'systemReserved',
  'evictionHard',
  'evictionSoft',
  'evictionMinimumReclaim',
]);
/** Texts to the kubelet's types, in which it reads durations. */
const SPANS: ReadonlySet<string> = new Set(['evictionSoftGracePeriod']);

/**
 * What the kubelet reads from a value where it reads a duration or a quantity: one text for `1m` and `1m0s`, for `1Gi` and `1024Mi`, for
 * `100m` and `0.1`.
 *
 * @param pattern the table's path of the field, of a map for each of its values: `kubeReserved`, `reservedMemory[].limits`
 * @returns undefined for any other value, for what the kubelet cannot read, and for sizes that a double does not hold exactly
 */
export function canonicalAmount(value: unknown, pattern: string): string | undefined {
  if (typeof value !== 'string') return undefined;
  const kind = FIELDS.get(pattern)?.kind ?? '';
  if (SPANS.has(pattern) || kind.startsWith('duration')) return inUnit(parseGoDuration(value), 'ns');
  if (SIZES.has(pattern)) return inUnit(parseQuantity(value), '');
  return kind.startsWith('quantity') ? inUnit(parseQuantity(trimmedQuantity(value)), '') : undefined;
}

const inUnit = (size: number | undefined, unit: string): string | undefined =>
  size === undefined || Math.abs(size) > Number.MAX_SAFE_INTEGER ? undefined : `${size}${unit}`;
