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
  /** `amd64`. */
  readonly arch?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The machine behind a Node, by what the Node says of it. */
export function machineOf({ size, labels }: Pick<NodeView, 'size' | 'labels'>): Machine {
  const amounts = { cpu: 'cpu', memory: 'memory', ephemeralStorage: 'ephemeral-storage', maxPods: 'pods' } as const;
  const known = Object.entries(amounts).flatMap(([name, resource]) => {
    const amount = parseQuantity(size?.capacity[resource] ?? '');
    return amount === undefined || !(amount > 0) ? [] : [[name, amount] as const];
  });
  const arch = labels['kubernetes.io/arch'];
  return { ...Object.fromEntries(known), ...(arch === undefined ? {} : { arch }), labels };
}
