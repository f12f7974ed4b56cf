import type { Amount } from '#shared/contract/api/kubelet-pool.ts';

/**
 * Resolves a count or a percentage against a total, or the smaller of both where a pool is held to two bounds (`2,10%`). The text was
 * validated when the pool was loaded.
 *
 * @param round `down` for budgets (what may be unavailable), `up` for thresholds, as Kubernetes rounds maxUnavailable
 *   of a Deployment and minAvailable of a PodDisruptionBudget
 */
export function amountOf(value: Amount, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  if (value.includes(',')) return Math.min(...partsOf(value).map((part) => amountOf(part, total, round)));
  const share = (Number.parseInt(value, 10) * total) / 100;
  return round === 'down' ? Math.floor(share) : Math.ceil(share);
}

const partsOf = (value: Amount): readonly Amount[] =>
  typeof value === 'number' ? [value] : value.split(',').map((part) => (part.endsWith('%') ? part : Number(part)));

/** The smaller of two amounts, whatever the number of nodes. 100% is no bound, and every percentage is at least one node. */
export function leastAmount(former: Amount, now: Amount): Amount {
  const parts = [...partsOf(former), ...partsOf(now)];
  const count = Math.min(...parts.filter((part) => typeof part === 'number'));
  const percent = Math.min(...parts.map((part) => (typeof part === 'number' ? 100 : Number.parseInt(part, 10))));
  if (percent >= 100) return count === Number.POSITIVE_INFINITY ? now : count;
  if (count === Number.POSITIVE_INFINITY || percent === 0) return `${percent}%`;
  return count <= 1 ? count : `${count},${percent}%`;
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
