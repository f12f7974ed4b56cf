import { countCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import type { SimulatedHost } from './host.ts';
import { isMap } from '#shared/runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** What a machine has, and what of it is left for pods, as quantities. */
export interface NodeResources {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/**
 * What a kubelet says of its machine (kubernetes/pkg/kubelet/cm/node_container_manager_linux.go, GetNodeAllocatableReservation).
 *
 * @param config with its defaults
 */
export function resourcesOf(config: Config, { cpus, memory, disk }: SimulatedHost): NodeResources {
  const pods = String(config['maxPods']);
  const reserved = (name: string): number =>
    amountIn(config['kubeReserved'], name) + amountIn(config['systemReserved'], name);
  const left = (name: string, whole: number, signal: string): number =>
    Math.floor(whole - reserved(name) - amountIn(config['evictionHard'], signal, whole));
  // These take the place of the shares that the other two name.
  const named = config['reservedSystemCPUs'];
  const taken = typeof named === 'string' && named !== '' ? (countCpus(named) ?? 0) : reserved('cpu');
  return {
    capacity: { cpu: String(cpus), memory: inKi(memory), 'ephemeral-storage': inKi(disk), pods },
    allocatable: {
      cpu: `${Math.round((cpus - taken) * 1000)}m`,
      memory: inKi(left('memory', memory, 'memory.available')),
      'ephemeral-storage': String(left('ephemeral-storage', disk, 'nodefs.available')),
      pods,
    },
  };
}

const inKi = (bytes: number): string => `${Math.floor(bytes / 1024)}Ki`;

/** @param whole of what a share in percent is one */
function amountIn(amounts: unknown, name: string, whole = 0): number {
  const amount = isMap(amounts) ? amounts[name] : undefined;
  const text = typeof amount === 'string' ? amount : '';
  return text.endsWith('%') ? (Number(text.slice(0, -1)) / 100) * whole : (parseQuantity(text) ?? 0);
}
