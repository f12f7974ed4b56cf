import type { LabelRequirement } from '#shared/contract/api/kubelet-pool.ts';
import { matcherOf } from '#reconciler/policy/pool-selection/selector.ts';
import { byFirst, type FleetNode, type Labels, majorityOf, selectorOf } from './fleet-node.ts';
import {
  CONTROL_PLANE_KEYS,
  lastPart,
  LAST_DISTINCTIVE_RANK,
  OS,
  POOL_KEYS,
  providerOf,
  rankOf,
} from './known-labels.ts';
import { nameOfLabel, nameTogether, slug } from './pool-names.ts';

/** Nodes that are looked at together, and what tells them from all others. */
export interface LabelGroup {
  readonly name: string;
  /** What pools of the same origin are called together: `eks`. */
  readonly family: string;
  readonly isControlPlane: boolean;
  readonly nodes: readonly FleetNode[];
  /** Undefined if only their names select them. */
  readonly requirements: readonly LabelRequirement[] | undefined;
}

/**
 * Divides a fleet by what its labels say on purpose: the control plane apart, then the pools of providers, then all others. Pure.
 *
 * @param isWhole whether these are all nodes that there are, but for `strangers`: only then something may be said of all others
 */
export function labelGroupsOf(
  nodes: readonly FleetNode[],
  strangers: readonly Labels[],
  isWhole: boolean,
): readonly LabelGroup[] {
  const byRole = Map.groupBy(nodes, ({ labels }) => CONTROL_PLANE_KEYS.find((key) => Object.hasOwn(labels, key)));
  const workers = byRole.get(undefined) ?? [];
  const roles = CONTROL_PLANE_KEYS.filter((key) => byRole.has(key));
  const controlPlane = roles.map((key): LabelGroup => {
    const members = byRole.get(key) ?? [];
    const name = key.endsWith('/controlplane') ? 'control-plane' : slug(lastPart(key));
    return { name, family: '', isControlPlane: true, nodes: members, requirements: [{ key, operator: 'Exists' }] };
  });
  const isOneKind = new Set(workers.map(({ kind }) => kind)).size <= 1;
  // All nodes of a fleet are easy to select, unless some of them are strangers.
  const pools = isOneKind && strangers.length === 0 ? [] : poolCells(workers);
  const pooled = new Set(pools.flatMap((cell) => cell.nodes));
  const rest = workers.filter((node) => !pooled.has(node));
  if (rest.length === 0) return [...controlPlane, ...pools];
  const resting = new Set(rest);
  const others = nodes.filter((node) => !resting.has(node)).map(({ labels }) => labels);
  const absent = [...roles, ...POOL_KEYS.filter((key) => pools.some((cell) => cell.requirements?.[0]?.key === key))];
  // Roles of nodes that could not be asked are roles all the same.
  const unasked = CONTROL_PLANE_KEYS.filter((key) => strangers.some((labels) => Object.hasOwn(labels, key)));
  const restRule = restCell(
    rest,
    others,
    isWhole ? [...new Set([...unasked, ...absent])] : undefined,
    strangers.length === 0,
  );
  return [...controlPlane, ...pools, { family: '', isControlPlane: false, nodes: rest, ...restRule }];
}

/** By the labels of providers, in their order; pools most of whose nodes run the same are one. */
function poolCells(workers: readonly FleetNode[]): readonly LabelGroup[] {
  const byKey = Map.groupBy(workers, ({ labels }) => POOL_KEYS.find((key) => Object.hasOwn(labels, key)));
  return POOL_KEYS.flatMap((key) => {
    const byValue = [...Map.groupBy(byKey.get(key) ?? [], ({ labels }) => labels[key] ?? '')];
    const alike = Map.groupBy(byValue.sort(byFirst), ([value, of]) => majorityOf(of) ?? `only ${value}`);
    return [...alike.values()].map((cells): LabelGroup => {
      const values = cells.map(([value]) => value);
      return {
        name: nameTogether(values.map((value) => nameOfLabel(key, value))),
        family: providerOf(key) ?? '',
        isControlPlane: false,
        nodes: cells.flatMap(([, of]) => of),
        requirements: [{ key, operator: 'In', values }],
      };
    });
  });
}

/**
 * What selects nodes without a label of a provider: one that only they have, or what they lack.
 *
 * @param absent labels that others have and they have not; undefined if there may be more nodes
 */
function restCell(
  rest: readonly FleetNode[],
  others: readonly Labels[],
  absent: readonly string[] | undefined,
  isEverybodyKnown: boolean,
): Pick<LabelGroup, 'name' | 'requirements'> {
  const isEveryNode = others.length === 0 && absent?.length === 0;
  if (isEveryNode && isEverybodyKnown) return everyNode(rest);
  const label = labelOfAll(rest, others, absent === undefined ? Infinity : LAST_DISTINCTIVE_RANK - 1);
  if (label !== undefined) return label;
  if (absent === undefined) return { name: 'nodes', requirements: undefined };
  if (isEveryNode) return { ...everyNode(rest), name: 'nodes' };
  return { name: 'workers', requirements: absent.map((key) => ({ key, operator: 'DoesNotExist' })) };
}

/** Of one operating system, where they say so: a node of another one does not run what these do. */
function everyNode(nodes: readonly FleetNode[]): Pick<LabelGroup, 'name' | 'requirements'> {
  const systems = [...new Set(nodes.map(({ labels }) => labels[OS]))];
  const [os, another] = systems;
  const isOne = os !== undefined && systems.length === 1 && another === undefined;
  return { name: 'all-nodes', requirements: isOne ? [{ key: OS, operator: 'In', values: [os] }] : [] };
}

function labelOfAll(
  nodes: readonly FleetNode[],
  others: readonly Labels[],
  lastRank: number,
): Pick<LabelGroup, 'name' | 'requirements'> | undefined {
  const shared = Object.entries(nodes[0]?.labels ?? {})
    .filter(([key]) => isRanked(key, lastRank))
    .filter(([key, value]) => nodes.every(({ labels }) => labels[key] === value) && lacks(others, key, value))
    .sort(([one], [other]) => (rankOf(one) ?? 0) - (rankOf(other) ?? 0) || (one < other ? -1 : 1));
  const [first] = shared;
  if (first === undefined) return undefined;
  const [key, value] = first;
  return { name: nameOfLabel(key, value), requirements: [{ key, operator: 'In', values: [value] }] };
}

function isRanked(key: string, lastRank: number): boolean {
  const rank = rankOf(key);
  return rank !== undefined && rank <= lastRank;
}

const lacks = (others: readonly Labels[], key: string, value: string): boolean =>
  others.every((labels) => labels[key] !== value);

/** A part of a cell. What tells it from the cell is enough, unless others outside have that as well. */
export function partOf(
  cell: LabelGroup,
  part: { readonly name: string; readonly requirement: LabelRequirement; readonly nodes: readonly FleetNode[] },
  everybody: readonly Labels[],
): LabelGroup {
  const matches = matcherOf(selectorOf([part.requirement]));
  const inside = new Set(cell.nodes.map(({ labels }) => labels));
  const isAlone = everybody.every((labels) => inside.has(labels) || !matches(labels));
  const requirements = isAlone ? [part.requirement] : [...(cell.requirements ?? []), part.requirement];
  const name = cell.isControlPlane ? slug(`${cell.name}-${part.name}`) : part.name;
  return {
    ...cell,
    name,
    nodes: part.nodes,
    requirements: cell.requirements === undefined && !isAlone ? undefined : requirements,
  };
}
