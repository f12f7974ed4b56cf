import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { reservedAmount } from '#shared/contract/kubelet-config/reserved-amount.ts';
import { NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { writeAmount } from './machine-amount.ts';
import type { Machine } from './machine.ts';

const RESOURCES = [
  { name: 'cpu', key: 'cpu', signal: undefined, unit: 'cores' },
  { name: 'memory', key: 'memory', signal: 'memory.available', unit: 'bytes' },
  { name: 'ephemeralStorage', key: 'ephemeral-storage', signal: 'nodefs.available', unit: 'bytes' },
] as const;

/** Why a config keeps back all that a machine has: its kubelet would not start, or take no pods. Undefined where something is left. */
export function overReserved(
  config: Readonly<Record<string, unknown>>,
  apply: ApplyMode,
  machine: Machine,
): string | undefined {
  const view = viewOf(config, NEWEST_MINOR, apply);
  for (const { name, key, signal, unit } of RESOURCES) {
    const capacity = machine[name];
    if (capacity === undefined) continue;
    const kept =
      reservedAmount(view, 'kubeReserved', key, capacity) +
      reservedAmount(view, 'systemReserved', key, capacity) +
      (signal === undefined ? 0 : reservedAmount(view, 'evictionHard', signal, capacity));
    if (kept < capacity) continue;
    return `the reservations keep back ${writeAmount(kept, unit)} of ${writeAmount(capacity, unit)} ${key}, so nothing is left`;
  }
  return undefined;
}
