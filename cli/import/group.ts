import { isDeepStrictEqual } from 'node:util';
import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import { isMap } from '#shared/contract/kubelet-config/walk.ts';
import type { Config } from './essence.ts';

/** A node and what it runs. */
export interface ImportedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly config: Config;
}

/** Nodes that run the same. */
export interface Group {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly nodeSelector: LabelSelector;
  /** What they have beyond what all groups have. */
  readonly own: Config;
}

export interface Grouped {
  readonly common: Config;
  readonly groups: readonly Group[];
}

/** Groups nodes by what they run, and finds what all have and by which label each group can be told. Pure. */
export function groupNodes(nodes: readonly ImportedNode[]): Grouped {
  const byConfig = [...Map.groupBy(nodes, ({ config }) => JSON.stringify(sorted(config))).values()].sort(
    (a, b) => b.length - a.length,
  );
  const [first, ...others] = byConfig.map(([node]) => node?.config ?? {});
  const common = others.reduce<Config>(shared, first ?? {});
  const taken = new Set<string>();
  const groups = byConfig.map((members, index) => {
    const rest = nodes.filter((node) => !members.includes(node));
    const label = distinctLabel(members, rest);
    const name = nameFor(label?.[1] === '' ? (label[0].split('/').at(-1) ?? '') : (label?.[1] ?? ''), index, taken);
    const names = members.map((node) => node.name).sort();
    return {
      name,
      nodes: names,
      nodeSelector: selectorFor(label, names),
      own: without(members[0]?.config ?? {}, common),
    };
  });
  return { common, groups };
}

/** Labels by which fleets are usually divided, the most telling first. */
const TELLING = [
  /^(?:cloud\.google\.com\/gke-nodepool|eks\.amazonaws\.com\/nodegroup|kubernetes\.azure\.com\/agentpool|karpenter\.sh\/nodepool)$/,
  /^node-role\.kubernetes\.io\//,
  /(?:pool|group|role)/,
  /^(?!kubernetes\.io\/hostname$)/,
];

function distinctLabel(
  members: readonly ImportedNode[],
  rest: readonly ImportedNode[],
): readonly [string, string] | undefined {
  const candidates = Object.entries(members[0]?.labels ?? {}).filter(
    ([key, value]) =>
      members.every(({ labels }) => labels[key] === value) && rest.every(({ labels }) => labels[key] !== value),
  );
  for (const telling of TELLING) {
    const found = candidates.filter(([key]) => telling.test(key)).sort(([a], [b]) => a.localeCompare(b));
    if (found[0] !== undefined) return found[0];
  }
  return undefined;
}

function selectorFor(label: readonly [string, string] | undefined, names: readonly string[]): LabelSelector {
  if (label === undefined) {
    return { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: names }] };
  }
  const [key, value] = label;
  return value === '' ? { matchExpressions: [{ key, operator: 'Exists' }] } : { matchLabels: { [key]: value } };
}

function nameFor(wanted: string, index: number, taken: Set<string>): string {
  const plain = wanted
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  const start = /^[a-z0-9]/.test(plain) ? plain : `group-${index + 1}`;
  const name = taken.has(start) ? `${start}-${index + 1}` : start;
  taken.add(name);
  return name;
}

/** What two configs have alike; maps key by key, everything else whole. */
function shared(one: Config, other: Config): Config {
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

function without(config: Config, common: Config): Config {
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
