import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';
import { type StateRequirement, type ManagerState, NOT_READ } from './state-requirement.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** Bytes kept back, by NUMA node and by kind of memory: `reserved.get('0 memory')`. */
type Reserved = ReadonlyMap<string, number>;

/**
 * What the memory manager asks of `memory_manager_state`, alike in kubelets 1.21 to 1.36 (`cm/memorymanager`,
 * `restoreState` and `validateState`); 1.20 has no such manager:
 *
 * - the policy has to be the one in the file; that is all for `None`;
 * - with `Static`, what the file says is kept back on each NUMA node has to be what `reservedMemory` says.
 *
 * Reservations and hard eviction thresholds are not in the file. They have to add up to `reservedMemory`, or the kubelet
 * does not start with any file: where they change, `reservedMemory` changes with them, or it is a matter of validation.
 */
export function memoryStateRequirement(config: ConfigView): StateRequirement {
  // The gate is gone since 1.36, and was locked before.
  if (config.minor < 21 || (config.minor < 36 && !config.gate('MemoryManager'))) return NOT_READ;
  const policy = config.text('memoryManagerPolicy') ?? 'None';
  if (policy !== 'Static') return { isRead: true, basis: policy, accepts: (state) => state['policyName'] === policy };
  const reserved = reservedIn(config);
  const amounts = [...reserved].filter(([, bytes]) => bytes !== 0).map(([where, bytes]) => `${where}=${bytes}`);
  return {
    isRead: true,
    basis: [policy, ...amounts.toSorted()].join('; '),
    accepts: (state) => state['policyName'] === policy && keepsBack(state, reserved),
  };
}

function reservedIn(config: ConfigView): Reserved {
  const all = config.structs('reservedMemory').flatMap(({ numaNode, limits }) =>
    Object.entries(asMap(limits)).map(
      // What is not a valid quantity stops a kubelet before it reads any file.
      ([kind, amount]) => [`${Number(numaNode ?? 0)} ${kind}`, parseQuantity(String(amount)) ?? 0] as const,
    ),
  );
  return new Map(all);
}

/** A state of no node at all is new, and is filled at the start. */
function keepsBack({ machineState }: ManagerState, reserved: Reserved): boolean {
  return Object.entries(asMap(machineState)).every(([node, memory]) =>
    Object.entries(asMap(asMap(memory)['memoryMap'])).every(
      ([kind, table]) => Number(asMap(table)['systemReserved'] ?? 0) === (reserved.get(`${node} ${kind}`) ?? 0),
    ),
  );
}

const asMap = (value: unknown): Readonly<Record<string, unknown>> => (isMap(value) ? value : {});
