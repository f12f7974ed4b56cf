import { neverReason } from '#reconciler/policy/participation.ts';
import { distributionOf, type NodeTraits } from '#shared/contract/distribution-of-node.ts';
import type { DistributionName } from '#shared/contract/distributions.ts';
import { counted, firstNames } from './format-lists.ts';
import { HOSTNAME, rankOf } from './pools/known-labels.ts';

/** A Node as far as it tells its distribution. */
export interface NodeSeen extends NodeTraits {
  readonly name: string;
}

/**
 * The chart's values for the distributions of these nodes, as lines for people; none where nothing is known of any node. Where a node does
 * not tell, none is guessed. Pure.
 */
export function distributionValues(nodes: readonly NodeSeen[]): readonly string[] {
  const hosts = nodes.filter((node) => node.kubeletVersion !== '' && neverReason(node)?.choice !== 'unsupported');
  if (hosts.length === 0) return [];
  const groups = Map.groupBy(hosts, distributionOf);
  const untold = groups.get(undefined) ?? [];
  const told = [...groups]
    .flatMap(([name, its]) => (name === undefined ? [] : [{ name, nodes: its }]))
    .sort((one, other) => other.nodes.length - one.nodes.length);
  if (told.length === 0) return [`distribution: not told by the nodes; ${LOOK_ALIKE}`];
  const [first, ...rest] = told;
  if (untold.length === 0 && rest.length === 0)
    return [`distribution: ${first?.name} (a value of the chart, or the component of that name)`];
  const names = firstNames(untold.map(({ name }) => name));
  // The distribution that is not in the list is for all nodes without its labels.
  return [
    'values of the chart:',
    untold.length === 0
      ? `  distribution: ${first?.name}`
      : `  # distribution: not told by ${counted(untold.length, 'node')} (${names}); ${LOOK_ALIKE}`,
    '  otherNodes:',
    ...(untold.length === 0 ? rest : told).flatMap((group) => otherNodes(group, hosts)),
  ];
}

const LOOK_ALIKE = 'those of kubeadm (the default) and Kubespray look alike';

interface Group {
  readonly name: DistributionName;
  readonly nodes: readonly NodeSeen[];
}

function otherNodes({ name, nodes }: Group, all: readonly NodeSeen[]): readonly string[] {
  const [key, value] = labelOf(nodes, all) ?? [];
  const label =
    key === undefined ? 'KEY, value: VALUE} # give them a label that no others have' : `${key}, value: "${value}"}`;
  return [`    - name: ${name}`, `      label: {key: ${label}`, `      distribution: ${name}`];
}

/** The most telling label that all of the group have, and no others; undefined without one. */
function labelOf(group: readonly NodeSeen[], all: readonly NodeSeen[]): readonly [string, string] | undefined {
  const having = (key: string, value: string) => all.filter(({ labels }) => labels[key] === value);
  const isTheirs = ([key, value]: readonly [string, string]): boolean => {
    const nodes = new Set(having(key, value));
    return key !== HOSTNAME && nodes.size === group.length && group.every((node) => nodes.has(node));
  };
  return Object.entries(group[0]?.labels ?? {})
    .filter((label) => rankOf(label[0]) !== undefined && isTheirs(label))
    .sort(([one], [other]) => (rankOf(one) ?? 0) - (rankOf(other) ?? 0) || one.localeCompare(other, 'en'))[0];
}
