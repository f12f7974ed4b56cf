import { parsePercentage, parseWholePercentage } from './syntax/percentage.ts';
import { parseQuantity } from './syntax/quantity.ts';
import type { ConfigView } from './config-view.ts';

/** Fields that keep a part of a node's resources from pods: maps from a resource, or an eviction signal, to an amount. */
export type ReservingField = 'kubeReserved' | 'systemReserved' | 'evictionHard' | 'evictionSoft';

/**
 * Whether a threshold takes its signal out of the watch: these two do, and only in these words (kubelet,
 * pkg/kubelet/eviction/helpers.go, `parseThresholdStatement`).
 */
export const isSwitchedOff = (threshold: string): boolean => threshold === '0%' || threshold === '100%';

/**
 * How much of a resource one field keeps back; what cannot be read keeps nothing back here, it is found elsewhere.
 *
 * @param name     `memory`; of thresholds a signal, `memory.available`
 * @param capacity of the node, in the unit that is asked for: cores, bytes, processes
 */
export function reservedAmount(view: ConfigView, field: ReservingField, name: string, capacity: number): number {
  const amount = view.entries(field).find(([key]) => key === name)?.[1] ?? '0';
  const isThreshold = field.startsWith('eviction');
  if (isThreshold && isSwitchedOff(amount)) return 0;
  const share = isThreshold ? parsePercentage(amount) : parseWholePercentage(amount);
  if (share === undefined) return bounded(parseQuantity(amount) ?? 0);
  // Thresholds are 32-bit floats there, and come to whole bytes (pkg/kubelet/cm, `hardEvictionReservation`).
  return bounded(isThreshold ? Math.trunc(capacity * Math.fround(Math.fround(share) / 100)) : (share / 100) * capacity);
}

/** `1e400` is a quantity, and no number here. No machine has as much. */
const bounded = (amount: number): number =>
  Math.max(-Number.MAX_SAFE_INTEGER, Math.min(amount, Number.MAX_SAFE_INTEGER));
