import type { LabelRequirement } from '#shared/contract/api/kubelet-pool.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import type { RunningFields } from '../non-defaults.ts';
import { type LabelGroup, partOf } from './label-groups.ts';
import { type FleetNode, type Labels, majorityOf, mostCommon, withoutField } from './fleet-node.ts';
import { differencesOf } from './leaves.ts';
import { splitByLabels } from './label-splits.ts';
import { nameOfDifference, slug } from './pool-names.ts';

/** A pool in the making. The first rule whose selector matches a node is the one that is meant for it. */
export interface SelectorRule {
  readonly name: string;
  readonly family: string;
  readonly isControlPlane: boolean;
  readonly nodes: readonly FleetNode[];
  /** Undefined: the nodes' names. */
  readonly requirements: readonly LabelRequirement[] | undefined;
}

/** A field that stays with the nodes, as it has too many values among these for as many pools. */
export interface UngroupedField {
  readonly field: string;
  /** Different ones; a node that does not set it counts as one. */
  readonly values: number;
  readonly nodes: readonly string[];
}

interface SelectorRules {
  readonly rules: readonly SelectorRule[];
  readonly scattered: readonly UngroupedField[];
}

/** Different configs within a cell that no label explains; a person keeps track of so many pools that list nodes by name. */
const MOST_ODD_KINDS = 8;
/** Parts of parts of a cell: a label for each is still to be understood. */
const DEEPEST = 3;

/**
 * The rules for a cell, the narrow ones first: nodes that can only be named, parts that a label selects, and then what most of the
 * cell runs. Pure.
 *
 * @param everybody labels of all nodes, those with an unknown config included
 */
export function selectorRulesOf(cell: LabelGroup, everybody: readonly Labels[], depth = 0): SelectorRules {
  const early = majorityOf(cell.nodes);
  const isOneKind = cell.nodes.every(({ kind }) => kind === early);
  const splits = isOneKind || depth === DEEPEST ? [] : splitByLabels(cell.nodes, early);
  const split = new Set(splits.flatMap(({ nodes }) => nodes));
  const left = cell.nodes.filter((node) => !split.has(node));
  const base = early ?? majorityOf(left);
  const odd = [...Map.groupBy(left, ({ kind }) => kind)].filter(([kind]) => kind !== base).map(([, nodes]) => nodes);
  if (odd.length > MOST_ODD_KINDS) return withoutScattered(cell, left, everybody, depth);
  const parts = splits.map((each) => selectorRulesOf(partOf(cell, each, everybody), everybody, depth + 1));
  const usual = base === undefined ? undefined : left.filter(({ kind }) => kind === base);
  const rules = [
    ...odd.map((nodes) => oddRule(cell, nodes, referenceFor(nodes, usual ?? [], odd))),
    ...parts.flatMap((part) => part.rules),
    ...(usual === undefined || usual.length === 0 ? [] : [{ ...cell, nodes: usual }]),
  ];
  return { rules, scattered: parts.flatMap((part) => part.scattered) };
}

function oddRule(cell: LabelGroup, nodes: readonly FleetNode[], reference: RunningFields): SelectorRule {
  const difference = nameOfDifference(differencesOf(nodes[0]?.config ?? {}, reference));
  return { ...cell, name: slug(`${cell.name}-${difference}`), nodes, requirements: undefined };
}

/** What nodes that differ are compared with for their name: what is usual there, or the most of the others. */
function referenceFor(
  nodes: readonly FleetNode[],
  usual: readonly FleetNode[],
  odd: readonly (readonly FleetNode[])[],
): RunningFields {
  if (usual[0] !== undefined) return usual[0].config;
  const others = odd.filter((each) => each !== nodes).sort((a, b) => b.length - a.length);
  return others[0]?.[0]?.config ?? {};
}

/** Leaves the field to the nodes that has most values among those that no label explains, and looks again. */
function withoutScattered(
  cell: LabelGroup,
  left: readonly FleetNode[],
  everybody: readonly Labels[],
  depth: number,
): SelectorRules {
  const usual = mostCommon(left)?.[0];
  const odd = left.filter(({ kind }) => kind !== usual);
  const fields = [...new Set(odd.flatMap(({ config }) => Object.keys(config)))].sort();
  const counted = fields.map((field) => ({
    field,
    values: new Set(odd.map(({ config }) => valueOf(config, field))).size,
  }));
  const worst = counted.reduce((one, other) => (other.values > one.values ? other : one), { field: '', values: 0 });
  const nodes = cell.nodes.map((node) => withoutField(node, worst.field));
  const { rules, scattered } = selectorRulesOf({ ...cell, nodes }, everybody, depth);
  return { rules, scattered: [{ ...worst, nodes: cell.nodes.map(({ name }) => name).sort() }, ...scattered] };
}

const valueOf = (config: RunningFields, field: string): string =>
  Object.hasOwn(config, field) ? canonicalize({ [field]: config[field] }) : '';
