import type { Amount } from '#shared/contract/api/kubelet-pool.ts';

/**
 * Resolves a count or a percentage against a total. The text was validated when the pool was loaded.
 *
 * @param round `down` for budgets (what may be unavailable), `up` for thresholds, as Kubernetes rounds maxUnavailable
 *   of a Deployment and minAvailable of a PodDisruptionBudget
 */
export function amountOf(value: Amount, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return round === 'down' ? Math.floor(share) : Math.ceil(share);
}

/** How many of so many nodes a bound lets through: a percentage that rounds to nothing still lets one, `0%` and 0 none. */
export function limitOf(bound: Amount, nodes: number): number {
  const none = bound === 0 || bound === '0%';
  return none ? 0 : Math.max(1, amountOf(bound, nodes, 'down'));
}

/** How many of so many nodes go in a wave; at least one, and no more than there are. */
export const shareOf = (amount: Amount, total: number): number =>
  Math.min(total, Math.max(1, amountOf(amount, total, 'up')));

/** How many failed nodes stop a pool; at least one. */
export function thresholdOf(threshold: Amount, nodes: number): number {
  return Math.max(1, amountOf(threshold, nodes, 'up'));
}
