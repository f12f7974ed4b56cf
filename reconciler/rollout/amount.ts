/**
 * Resolves a count or a percentage against a total. The text was validated when the pool was loaded.
 *
 * @param round `down` for budgets (what may be unavailable), `up` for thresholds, as Kubernetes rounds maxUnavailable
 *   of a Deployment and minAvailable of a PodDisruptionBudget
 */
export function amountOf(value: number | string, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return round === 'down' ? Math.floor(share) : Math.ceil(share);
}

/** How many of a pool's nodes may be unavailable: a percentage that rounds to nothing still lets one node go at a time. */
export function budgetOf(maxUnavailable: number | string, nodes: number): number {
  const amount = amountOf(maxUnavailable, nodes, 'down');
  const none = maxUnavailable === 0 || maxUnavailable === '0%';
  return none ? 0 : Math.max(1, amount);
}

/** How many failed nodes stop a pool; at least one. */
export function thresholdOf(threshold: number | string, nodes: number): number {
  return Math.max(1, amountOf(threshold, nodes, 'up'));
}
