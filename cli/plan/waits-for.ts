import { disruptionBar } from '#reconciler/policy/disruption/disruption-bar.ts';
import { disruptionOf } from '#reconciler/policy/disruption/disruption-of.ts';
import type { ValidPool } from '#reconciler/policy/repo/loaded.ts';

export const SUSPENDED_IN_GIT = 'pool.yaml says suspend: true';

/**
 * What in git would have nodes wait with a pool's config: a suspension, or a change that does more to a node than the pool
 * allows.
 *
 * @param before what its nodes run now; undefined for their local config, which nobody here knows: that counts as a restart
 * @returns the first reason; undefined where nothing in git is in the way
 */
export function waitsFor({ value, spec }: ValidPool, before: readonly (ValidPool | undefined)[]): string | undefined {
  if (spec.suspend === true) return SUSPENDED_IN_GIT;
  const known = new Set(before.filter((pool) => pool !== undefined));
  for (const pool of known) {
    const bar = disruptionBar(disruptionOf(pool.value, value), spec.disruption);
    if (bar !== null) return bar;
  }
  return undefined;
}
