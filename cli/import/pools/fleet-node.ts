import type { LabelRequirement, LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { isLabelValue, isQualifiedName } from '#shared/contract/kubelet-config/syntax/names.ts';
import type { RunningFields } from '../non-defaults.ts';
import { inOneNotation } from '../amount-notation.ts';
import { HOSTNAME } from './known-labels.ts';

export type Labels = Readonly<Record<string, string>>;

/** A node and what it runs. */
export interface ImportedNode {
  readonly name: string;
  readonly labels: Labels;
  readonly config: RunningFields;
}

/** The same, made ready for comparing: amounts that mean the same are written alike. */
export interface FleetNode extends ImportedNode {
  /** Equal for equal configs. */
  readonly kind: string;
  /** Value of the label by which this node alone can be selected; undefined without one, and if other nodes share it. */
  readonly hostname: string | undefined;
}

/** Only labels that a selector can name: an inventory written by hand may hold anything. */
export const usableLabels = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key, value]) => isQualifiedName(key) && isLabelValue(value)));

/** An order of entries by code units: the same everywhere, whatever the language. */
export const byFirst = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : Number(one > other);

/** By name. @param strangers other nodes, which may have the same hostname */
export function fleetNodes(nodes: readonly ImportedNode[], strangers: readonly Labels[]): readonly FleetNode[] {
  const all = [...nodes.map(({ labels }) => labels), ...strangers];
  const times = new Map<string, number>();
  for (const { [HOSTNAME]: name = '' } of all) times.set(name, (times.get(name) ?? 0) + 1);
  const sorted = inOneNotation(nodes)
    .map((node) => [node.name, node] as const)
    .sort(byFirst);
  // Nodes may share what they run.
  const kinds = new Map<RunningFields, string>();
  return sorted.map(([, node]) => {
    const labels = usableLabels(node.labels);
    const name = labels[HOSTNAME] ?? '';
    const hostname = name !== '' && times.get(name) === 1 ? name : undefined;
    const kind = kinds.get(node.config) ?? canonicalize(node.config);
    kinds.set(node.config, kind);
    return { ...node, labels, hostname, kind };
  });
}

/** The same node without a field. */
export function withoutField(node: FleetNode, field: string): FleetNode {
  if (!Object.hasOwn(node.config, field)) return node;
  const { [field]: _, ...config } = node.config;
  return { ...node, config, kind: canonicalize(config) };
}

/** In the form that people write: a label with one value under `matchLabels`. */
export function selectorOf(requirements: readonly LabelRequirement[]): LabelSelector {
  const single = requirements.filter(isSingle);
  const others = requirements.filter((each) => !isSingle(each));
  return {
    ...(single.length === 0
      ? {}
      : { matchLabels: Object.fromEntries(single.map(({ key, values }) => [key, values?.[0] ?? ''])) }),
    ...(others.length === 0 ? {} : { matchExpressions: others }),
  };
}

const isSingle = ({ key, operator, values }: LabelRequirement): boolean =>
  operator === 'In' && values?.length === 1 && key !== HOSTNAME;

/** The kind that more than half of the nodes have; undefined where no kind has that many. */
export function majorityOf(nodes: readonly FleetNode[]): string | undefined {
  const [kind, members] = mostCommon(nodes) ?? [];
  return (members ?? 0) * 2 > nodes.length ? kind : undefined;
}

/** The kind that most nodes have, and how many; of equally common ones, the one that is met first. */
export function mostCommon(nodes: readonly FleetNode[]): readonly [kind: string, nodes: number] | undefined {
  const counts = new Map<string, number>();
  for (const { kind } of nodes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  let best: readonly [string, number] | undefined;
  for (const entry of counts) if (best === undefined || entry[1] > best[1]) best = entry;
  return best;
}
