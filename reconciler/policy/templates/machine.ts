import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import type { NodeView } from '../fleet.ts';

/** A machine as far as configs can follow it. What is absent its Node does not say. */
export interface Machine {
  /** Cores. */
  readonly cpu?: number;
  /** Bytes. */
  readonly memory?: number;
  /** Bytes. */
  readonly ephemeralStorage?: number;
  /** How many pods its kubelet takes now. */
  readonly maxPods?: number;
  /** Nodes of memory and processors that belong together; its agent says it. */
  readonly numaNodes?: number | undefined;
  /** `amd64`. */
  readonly arch?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

export const ARCH_LABEL = 'kubernetes.io/arch';

/** A node as far as its machine goes. */
export interface MachineSource extends Pick<NodeView, 'size' | 'labels'> {
  /** As its agent reports it; absent until it does. */
  readonly numaNodes?: number | undefined;
}

/** The machine behind a node, by what its Node says of it. */
export function machineOf({ size, labels }: Pick<NodeView, 'size' | 'labels'>): Machine {
  const amounts = { cpu: 'cpu', memory: 'memory', ephemeralStorage: 'ephemeral-storage', maxPods: 'pods' } as const;
  const known = Object.entries(amounts).flatMap(([name, resource]) => {
    const amount = parseQuantity(size?.capacity[resource] ?? '');
    return amount === undefined || !(amount > 0) ? [] : [[name, amount] as const];
  });
  const arch = labels[ARCH_LABEL];
  return {
    ...Object.fromEntries(known),
    ...(arch === undefined ? {} : { arch }),
    labels,
  };
}
