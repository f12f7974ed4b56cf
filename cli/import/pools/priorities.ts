import { matcherOf } from '#reconciler/policy/pool-selection/selector.ts';
import { selectorOf } from './fleet-node.ts';
import type { ExclusiveRule } from './exclusions.ts';

/** Room for a pool in between. */
const STEP = 10;
/** Above all others, as in the template. */
const CONTROL_PLANE = 100;

/**
 * A priority for each rule: above every later rule that matches one of its nodes, and no higher than that takes. Pure.
 *
 * @param rules in their order: the first that matches a node has it
 */
export function prioritiesOf(rules: readonly ExclusiveRule[]): readonly number[] {
  const workers = levelsOf(rules.filter(({ isControlPlane }) => !isControlPlane));
  const masters = levelsOf(rules.filter(({ isControlPlane }) => isControlPlane));
  const highest = Math.max(0, ...workers.values());
  const floor = Math.max(CONTROL_PLANE, (highest + 1) * STEP);
  return rules.map(
    (rule) => (rule.isControlPlane ? floor : 0) + STEP * ((rule.isControlPlane ? masters : workers).get(rule) ?? 0),
  );
}

function levelsOf(rules: readonly ExclusiveRule[]): ReadonlyMap<ExclusiveRule, number> {
  const levels = new Map<ExclusiveRule, number>();
  const below: { readonly rule: ExclusiveRule; readonly matches: ReturnType<typeof matcherOf> }[] = [];
  for (const rule of rules.toReversed()) {
    const overlapping = below.filter(({ matches }) => rule.nodes.some(({ labels }) => matches(labels)));
    levels.set(rule, Math.max(0, ...overlapping.map((other) => (levels.get(other.rule) ?? 0) + 1)));
    below.push({ rule, matches: matcherOf(selectorOf(rule.requirements)) });
  }
  return levels;
}
