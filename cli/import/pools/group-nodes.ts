import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import type { RunningFields } from '../non-defaults.ts';
import { labelGroupsOf } from './label-groups.ts';
import { type FleetNode, fleetNodes, type ImportedNode, type Labels, selectorOf, usableLabels } from './fleet-node.ts';
import { layersOf, type SharedLayer } from './layers.ts';
import { prioritiesOf } from './priorities.ts';
import { selectorRulesOf, type UngroupedField } from './selector-rules.ts';
import { addExclusions, type Exclusions, type ExclusiveRule } from './exclusions.ts';
import { uniqueNames } from './pool-names.ts';

/** A pool as it is to be written. */
export interface NodeGroup {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly nodeSelector: LabelSelector;
  readonly priority: number;
  readonly isControlPlane: boolean;
  /** Whether the selector lists the nodes, so that later ones do not join. */
  readonly isByName: boolean;
  /** How many nodes the selector excludes by name, because their configs are not known. */
  readonly excluded: number;
  /** Names of the shared layers that it lists, between the common one and its own. */
  readonly shared: readonly string[];
  /** What its nodes have beyond these layers. */
  readonly own: RunningFields;
}

export interface Grouped {
  readonly common: RunningFields;
  readonly shared: readonly SharedLayer[];
  /** The biggest first; the control plane last. */
  readonly groups: readonly NodeGroup[];
  readonly scattered: readonly UngroupedField[];
  /** Names of nodes that no selector can tell from others that run something else. */
  readonly lost: readonly string[];
}

/** So often the nodes that are lost are left out one by one, before all are that have no name of their own. */
const MOST_ATTEMPTS = 4;

/**
 * Groups nodes by what they run and by the labels that explain it: what most nodes of a label run is the label's pool, those that
 * differ are pools of higher priority, and what pools share is in layers of its own. The control plane is always apart. Pure.
 *
 * @param strangers labels of all nodes whose config is unknown; undefined if there may be more nodes
 */
export function groupNodes(nodes: readonly ImportedNode[], strangers?: readonly Labels[]): Grouped {
  const known = (strangers ?? []).map(usableLabels);
  const fleet = fleetNodes(nodes, known);
  let lost: readonly FleetNode[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const out = new Set(lost);
    const kept = fleet.filter((node) => !out.has(node));
    const forbidden = [...known, ...lost.map(({ labels }) => labels)];
    const { exclusions, scattered } = rulesFor(kept, forbidden, strangers !== undefined);
    if (exclusions.lost.length === 0) return grouped(exclusions, scattered, lost);
    const names = new Set(exclusions.lost.map(({ name }) => name));
    const isLast = attempt >= MOST_ATTEMPTS;
    lost = fleet.filter((node) => out.has(node) || names.has(node.name) || (isLast && node.hostname === undefined));
  }
}

function rulesFor(
  nodes: readonly FleetNode[],
  forbidden: readonly Labels[],
  isWhole: boolean,
): { readonly exclusions: Exclusions; readonly scattered: readonly UngroupedField[] } {
  const everybody = [...nodes.map(({ labels }) => labels), ...forbidden];
  const made = labelGroupsOf(nodes, forbidden, isWhole).map((cell) => selectorRulesOf(cell, everybody));
  const exclusions = addExclusions(
    made.flatMap(({ rules }) => rules),
    forbidden,
  );
  return { exclusions, scattered: made.flatMap((each) => each.scattered) };
}

const byKindAndSize = (one: ExclusiveRule, other: ExclusiveRule): number =>
  Number(one.isControlPlane) - Number(other.isControlPlane) || other.nodes.length - one.nodes.length;

function grouped({ rules }: Exclusions, scattered: readonly UngroupedField[], lost: readonly FleetNode[]): Grouped {
  const priorities = prioritiesOf(rules);
  const nameFor = uniqueNames();
  const ordered = rules
    .map((rule, index) => ({ ...rule, priority: priorities[index] ?? 0 }))
    .sort(byKindAndSize)
    .map((rule) => ({ ...rule, name: nameFor(rule.name), config: rule.nodes[0]?.config ?? {} }));
  const { common, shared, own } = layersOf(ordered);
  const groups = ordered.map((rule, index): NodeGroup => {
    const { name, priority, isControlPlane, isByName, excluded } = rule;
    return {
      name,
      nodes: rule.nodes.map((node) => node.name).sort(),
      nodeSelector: selectorOf(rule.requirements),
      priority,
      isControlPlane,
      isByName,
      excluded,
      shared: shared.filter(({ pools }) => pools.includes(name)).map((layer) => layer.name),
      own: own[index] ?? {},
    };
  });
  return { common, shared, groups, scattered, lost: lost.map(({ name }) => name).sort() };
}
