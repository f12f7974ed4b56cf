import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';

export type Labels = Readonly<Record<string, string>>;

/** How the nodes of a group are told from all others. */
export interface Distinction {
  readonly nodeSelector: LabelSelector;
  /** What it suggests to call them; '' where it suggests nothing. */
  readonly name: string;
}

/** Labels by which fleets are divided on purpose, the most telling first. */
const TELLING = [
  /^(?:cloud\.google\.com\/gke-nodepool|eks\.amazonaws\.com\/nodegroup|kubernetes\.azure\.com\/agentpool|karpenter\.sh\/nodepool)$/,
  /^node-role\.kubernetes\.io\//,
  /(?:pool|group|role)/,
];
/** Any other that is not a node's own, and has no newer name. */
const ANY = [/^(?!kubernetes\.io\/hostname$|beta\.kubernetes\.io\/|failure-domain\.beta\.kubernetes\.io\/)/];
const OS = 'kubernetes.io/os';

/**
 * Finds the mark that nodes which come later will have as well: only where there is none, nodes are named one by one. Pure.
 *
 * @param members one at least
 * @param rest    of all others that are known
 * @param isWhole whether `members` and `rest` are the whole fleet: only then something may be said of all others
 */
export function distinctionOf(
  members: readonly { readonly name: string; readonly labels: Labels }[],
  rest: readonly Labels[],
  isWhole: boolean,
): Distinction {
  const all = members.map(({ labels }) => labels);
  if (isWhole && rest.length === 0) return { nodeSelector: everyNode(all), name: 'all-nodes' };
  return (
    byLabel(all, rest, TELLING) ??
    (isWhole ? byAbsence(all, rest) : undefined) ??
    byLabel(all, rest, ANY) ?? { nodeSelector: byNames(members), name: '' }
  );
}

/** Of one operating system, where they say so: a node of another one does not run what these do. */
function everyNode(all: readonly Labels[]): LabelSelector {
  const os = all[0]?.[OS];
  return os !== undefined && all.every((labels) => labels[OS] === os) ? { matchLabels: { [OS]: os } } : {};
}

function byLabel(
  all: readonly Labels[],
  rest: readonly Labels[],
  patterns: readonly RegExp[],
): Distinction | undefined {
  const distinct = Object.entries(all[0] ?? {}).filter(
    ([key, value]) => all.every((labels) => labels[key] === value) && rest.every((labels) => labels[key] !== value),
  );
  const [key, value] = mostTelling(distinct, ([label]) => label, patterns) ?? [];
  if (key === undefined || value === undefined) return undefined;
  return value === ''
    ? { nodeSelector: { matchExpressions: [{ key, operator: 'Exists' }] }, name: key.split('/').at(-1) ?? '' }
    : { nodeSelector: { matchLabels: { [key]: value } }, name: value };
}

/** As workers are told that kubeadm made: by not being of the control plane. */
function byAbsence(all: readonly Labels[], rest: readonly Labels[]): Distinction | undefined {
  const absent = Object.keys(rest[0] ?? {}).filter(
    (label) => rest.every((labels) => label in labels) && all.every((labels) => !(label in labels)),
  );
  const key = mostTelling(absent, (label) => label, TELLING);
  if (key === undefined) return undefined;
  return {
    nodeSelector: { matchExpressions: [{ key, operator: 'DoesNotExist' }] },
    name: /^node-role\.kubernetes\.io\/(?:control-plane|master)$/.test(key) ? 'workers' : '',
  };
}

function mostTelling<T>(of: readonly T[], keyOf: (each: T) => string, patterns: readonly RegExp[]): T | undefined {
  const sorted = [...of].sort((a, b) => keyOf(a).localeCompare(keyOf(b)));
  for (const pattern of patterns) {
    const found = sorted.find((each) => pattern.test(keyOf(each)));
    if (found !== undefined) return found;
  }
  return undefined;
}

const byNames = (members: readonly { readonly name: string }[]): LabelSelector => ({
  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: members.map(({ name }) => name).sort() }],
});
