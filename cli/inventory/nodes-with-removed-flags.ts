import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { REMOVED_FLAGS } from '#shared/contract/kubelet-config/fields/removed-flags.ts';
import { minorName, minorNumber, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';

/** A flag on kubelets' command lines that keeps a newer kubelet from starting. */
export interface RemovedFlag {
  /** Without its dashes. */
  readonly flag: string;
  /** The first minor version that does not know it. */
  readonly to: string;
  /** Names of the nodes whose kubelet has it now, and is older. */
  readonly nodes: readonly string[];
}

export interface FlagsOfNodes {
  readonly flags: readonly RemovedFlag[];
  /** Names of the nodes whose agents do not say which flags their kubelet has. */
  readonly unseen: readonly string[];
}

/** By version, then by name. What an agent reports and we do not know is left out. */
export function removedFlagsOf(nodes: readonly KubeletNode[]): FlagsOfNodes {
  const found = nodes.flatMap(({ metadata: { name }, status }) =>
    (status?.kubeletFlags ?? []).flatMap((flag) => {
      const minor = REMOVED_FLAGS.get(flag) ?? 0;
      return minor > (minorNumber(status?.kubeletVersion ?? '') ?? OLDEST_MINOR) ? [{ name, flag, minor }] : [];
    }),
  );
  const flags = [...Map.groupBy(found, ({ flag }) => flag)].map(([flag, each]) => ({
    flag,
    to: minorName(each[0]?.minor ?? 0),
    nodes: [...new Set(each.map(({ name }) => name))].sort(),
  }));
  return {
    // Of one length, so that their order is that of the numbers.
    flags: flags.toSorted((one, other) => compare(one.to, other.to) || compare(one.flag, other.flag)),
    unseen: nodes
      .filter(({ status }) => status?.kubeletFlags === undefined)
      .map(({ metadata }) => metadata.name)
      .sort(),
  };
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
