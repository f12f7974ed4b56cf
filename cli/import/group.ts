import { isDeepStrictEqual } from 'node:util';
import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import { isMap } from '#shared/contract/kubelet-config/walk.ts';
import type { RunningFields } from './essence.ts';
import { type Labels, distinctionOf } from './mark.ts';

/** A node and what it runs. */
export interface ImportedNode {
  readonly name: string;
  readonly labels: Labels;
  readonly config: RunningFields;
}

/** Nodes that run the same. */
export interface NodeGroup {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly nodeSelector: LabelSelector;
  /** What they have beyond what all groups have. */
  readonly own: RunningFields;
}

export interface Grouped {
  readonly common: RunningFields;
  readonly groups: readonly NodeGroup[];
}

/**
 * Groups nodes by what they run, and finds what all have and by which label each group can be told. Pure.
 *
 * @param strangers labels of all nodes of which nobody knows what they run; undefined where there may be more nodes
 */
export function groupNodes(nodes: readonly ImportedNode[], strangers?: readonly Labels[]): Grouped {
  const byConfig = [...Map.groupBy(nodes, ({ config }) => JSON.stringify(sorted(config))).values()].sort(
    (a, b) => b.length - a.length,
  );
  const [first, ...others] = byConfig.map(([node]) => node?.config ?? {});
  const common = others.reduce<RunningFields>(shared, first ?? {});
  const taken = new Set<string>();
  const groups = byConfig.map((members, index) => {
    const rest = nodes.filter((node) => !members.includes(node)).map(({ labels }) => labels);
    const { name, nodeSelector } = distinctionOf(members, [...rest, ...(strangers ?? [])], strangers !== undefined);
    return {
      name: nameFor(name, index, taken),
      nodes: members.map((node) => node.name).sort(),
      nodeSelector,
      own: without(members[0]?.config ?? {}, common),
    };
  });
  return { common, groups };
}

function nameFor(wanted: string, index: number, taken: Set<string>): string {
  const plain = wanted
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40);
  const start = /^[a-z0-9]/.test(plain) ? plain : `group-${index + 1}`;
  const name = taken.has(start) ? `${start}-${index + 1}` : start;
  taken.add(name);
  return name;
}

/** What two configs have alike; maps key by key, everything else whole. */
function shared(one: RunningFields, other: RunningFields): RunningFields {
  return Object.fromEntries(
    Object.entries(one).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
      const theirs = other[key];
      if (isDeepStrictEqual(value, theirs)) return [[key, value]];
      if (!isMap(value) || !isMap(theirs)) return [];
      const inner = shared(value, theirs);
      return Object.keys(inner).length === 0 ? [] : [[key, inner]];
    }),
  );
}

function without(config: RunningFields, common: RunningFields): RunningFields {
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
      const base = common[key];
      if (isDeepStrictEqual(value, base)) return [];
      return [[key, isMap(value) && isMap(base) ? without(value, base) : value]];
    }),
  );
}

function sorted(value: unknown): unknown {
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
