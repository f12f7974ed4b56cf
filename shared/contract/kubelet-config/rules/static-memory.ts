import { isSwitchedOff } from '../reserved-amount.ts';
import { parsePercentage } from '../syntax/percentage.ts';
import { parseQuantity } from '../syntax/quantity.ts';
import type { ConfigView } from '../config-view.ts';
import { at, type Rule } from './rule.ts';
import { isMap } from '../../../runtime/maps.ts';

/** First minor whose memory manager needs no gate. */
const STABLE_MINOR = 32;
/** What `evictionHard` has for memory where nothing is set (kubelet, `eviction.DefaultEvictionHard`). */
const DEFAULT_THRESHOLD = '100Mi';

/** Whether the memory manager compares sums at all. */
export const exactMemoryIsAsked = (view: ConfigView): boolean =>
  view.text('memoryManagerPolicy') === 'Static' && (view.minor >= STABLE_MINOR || view.gate('MemoryManager'));

/** Bytes of memory in `reservedMemory`, over all NUMA nodes. */
export function reservedByNode(view: ConfigView): number {
  const amounts = view.structs('reservedMemory').map(({ limits }) => (isMap(limits) ? limits['memory'] : undefined));
  return amounts.reduce<number>((sum, amount) => sum + sizeOf(amount), 0);
}

/**
 * Bytes of memory that are kept back from pods, as `validateReservedMemory` of the kubelet's memory manager adds them up
 * (1.21 to 1.36).
 *
 * @param capacity bytes of memory of the node, if known
 * @returns undefined if it depends on the capacity, and that is unknown
 */
export function setAsideMemory(view: ConfigView, capacity?: number): number | undefined {
  const evicted = threshold(view, capacity);
  const reserved = ['kubeReserved', 'systemReserved'].map((field) => sizeOf(entry(view, field, 'memory')));
  return evicted === undefined ? undefined : reserved.reduce((sum, amount) => sum + amount, evicted);
}

function threshold(view: ConfigView, capacity: number | undefined): number | undefined {
  const isMerged = view.flag('mergeDefaultEvictionSettings') === true;
  const written = entry(view, 'evictionHard', 'memory.available') ?? (isMerged ? DEFAULT_THRESHOLD : '0');
  if (isSwitchedOff(written)) return 0;
  const share = parsePercentage(written);
  if (share === undefined) return sizeOf(written);
  return capacity === undefined ? undefined : Math.trunc(capacity * Math.fround(Math.fround(share) / 100));
}

const entry = (view: ConfigView, field: string, name: string): string | undefined =>
  view.entries(field).find(([key]) => key === name)?.[1];

const sizeOf = (amount: unknown): number =>
  typeof amount === 'string' ? (parseQuantity(amount) ?? 0) : amount === undefined ? 0 : Number(amount);

/** What is not a valid quantity was found already. */
const hasNoSize = (view: ConfigView): boolean =>
  view
    .structs('reservedMemory')
    .some(
      ({ limits }) =>
        isMap(limits) && typeof limits['memory'] === 'string' && parseQuantity(limits['memory']) === undefined,
    );

/** In an overlay only a warning: the node's own config may reserve the rest. Flags can, too: who has them writes the same here. */
export const STATIC_MEMORY_RULES: readonly Rule[] = [
  function* staticMemoryIsExact(config) {
    if (!exactMemoryIsAsked(config) || hasNoSize(config)) return;
    const reserved = reservedByNode(config);
    const aside = setAsideMemory(config);
    const isEqual = aside === undefined ? reserved > 0 : reserved === aside;
    if (isEqual && reserved > 0) return;
    const wanted = aside === undefined ? 'what these take on each node' : `${aside / 2 ** 20}Mi in all`;
    const nothing = 'keep memory back in kubeReserved, systemReserved or evictionHard, and reserve as much';
    yield {
      code: 'memory-not-equal',
      severity: config.apply === 'replace' ? 'error' : 'warning',
      at: at(config.isSet('reservedMemory') ? 'reservedMemory' : 'memoryManagerPolicy'),
      message: `the Static memory manager does not start unless reservedMemory is what kubeReserved, systemReserved and evictionHard keep back, and it is ${reserved / 2 ** 20}Mi`,
      suggestion: aside === 0 ? nothing : `reserve ${wanted}`,
      restsOn: ['kubeReserved', 'systemReserved', 'evictionHard', 'reservedMemory'],
    };
  },
];
