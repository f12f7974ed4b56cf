import type { LabelRequirement } from '#shared/contract/api/kubelet-pool.ts';
import { matcherOf } from '#reconciler/policy/pool-selection/selector.ts';
import { type FleetNode, type Labels, selectorOf } from './fleet-node.ts';
import { HOSTNAME } from './known-labels.ts';
import type { SelectorRule } from './selector-rules.ts';

/** A rule with a selector that matches none of the nodes that no pool may have. */
export interface ExclusiveRule extends SelectorRule {
  readonly requirements: readonly LabelRequirement[];
  /** How many nodes it names because their config is unknown. */
  readonly excluded: number;
  /** Whether it lists its nodes: later ones do not join it. */
  readonly isByName: boolean;
}

export interface Exclusions {
  readonly rules: readonly ExclusiveRule[];
  /** Nodes that no selector can tell from others that run something else. */
  readonly lost: readonly FleetNode[];
}

/**
 * Keeps selectors off nodes that no pool may have, by their names: where that takes as many names as the pool has nodes, the pool
 * names its own. Pure.
 *
 * @param forbidden labels of nodes whose config is unknown, and of those that opted out
 */
export function addExclusions(rules: readonly SelectorRule[], forbidden: readonly Labels[]): Exclusions {
  const lost: FleetNode[] = [];
  const exclusive = rules.flatMap((rule): readonly ExclusiveRule[] => {
    const kept = byLabels(rule, forbidden) ?? byNames(rule);
    const members = new Set(kept?.nodes);
    lost.push(...rule.nodes.filter((node) => !members.has(node)));
    return kept === undefined ? [] : [kept];
  });
  return { rules: exclusive, lost };
}

function byLabels(rule: SelectorRule, forbidden: readonly Labels[]): ExclusiveRule | undefined {
  const { requirements, nodes } = rule;
  if (requirements === undefined) return undefined;
  const matched = forbidden.filter(matcherOf(selectorOf(requirements)));
  if (matched.length === 0) return { ...rule, requirements, excluded: 0, isByName: false };
  if (matched.length >= nodes.length) return undefined;
  const names = new Set(nodes.map(({ labels }) => labels[HOSTNAME]));
  const values = [...new Set(matched.flatMap(({ [HOSTNAME]: name }) => name ?? []))].sort();
  const someLackNames = matched.some((labels) => labels[HOSTNAME] === undefined);
  if (values.some((name) => names.has(name)) || (someLackNames && names.has(undefined))) return undefined;
  const apart: readonly LabelRequirement[] = [
    ...(values.length === 0 ? [] : [{ key: HOSTNAME, operator: 'NotIn', values } as const]),
    ...(someLackNames ? [{ key: HOSTNAME, operator: 'Exists' } as const] : []),
  ];
  return { ...rule, requirements: [...requirements, ...apart], excluded: matched.length, isByName: false };
}

function byNames(rule: SelectorRule): ExclusiveRule | undefined {
  const nodes = rule.nodes.filter(({ hostname }) => hostname !== undefined);
  if (nodes.length === 0) return undefined;
  const values = nodes.flatMap(({ hostname }) => hostname ?? []).sort();
  return { ...rule, nodes, requirements: [{ key: HOSTNAME, operator: 'In', values }], excluded: 0, isByName: true };
}
