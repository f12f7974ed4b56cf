import { parseCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';
import { type StateRequirement, type ManagerState, NOT_READ } from './state-requirement.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** Takes the reserved CPUs out of the state's default set; from 1.32 on. */
const STRICT = 'strict-cpu-reservation';

/**
 * What the CPU manager asks of `cpu_manager_state`, alike in kubelets 1.20 to 1.36 (`cm/cpumanager`, `restoreState` and
 * `validateState`):
 *
 * - the policy has to be the one in the file; that is all for `none`;
 * - with `static`, the reserved CPUs have to be among the unassigned ones (with `strict-cpu-reservation`: to be
 *   in neither), and all CPUs in the file have to be those of the machine, less the strictly reserved ones.
 *
 * `reservedSystemCPUs` names the reserved CPUs. Without it there are as many as kubeReserved and systemReserved come to,
 * rounded up; which ones depends on the machine and the policy's options. As long as no CPU is given to a container, any of
 * them will do.
 */
export function cpuStateRequirement(config: ConfigView): StateRequirement {
  // The gate is gone since 1.33, and was locked before.
  if (config.minor < 33 && !config.gate('CPUManager')) return NOT_READ;
  const policy = config.text('cpuManagerPolicy') ?? 'none';
  if (policy !== 'static') return { isRead: true, basis: policy, accepts: (state) => state['policyName'] === policy };
  const named = parseCpus(config.text('reservedSystemCPUs') ?? '') ?? new Set<number>();
  const reserved = named.size > 0 ? [...named].sort((one, other) => one - other).join() : `${wholeCpus(config)} CPUs`;
  const options = config.entries('cpuManagerPolicyOptions').map(([name, value]) => `${name}=${value}`);
  const basis = ['static', reserved, ...options.toSorted()].join('; ');
  return {
    isRead: true,
    basis,
    accepts: (state, madeUnder) =>
      state['policyName'] === policy && (madeUnder === basis || isRoomFor(named, state, [basis, madeUnder])),
  };
}

/** Whether the reserved CPUs are free without doubt, whatever the state was computed from. */
function isRoomFor(named: ReadonlySet<number>, state: ManagerState, bases: readonly (string | undefined)[]): boolean {
  if (bases.some((basis) => basis?.includes(STRICT) !== false)) return false;
  if (isEmpty(state['entries']) && isEmpty(state['podEntries'])) return true;
  const written = state['defaultCpuSet'];
  const free = typeof written === 'string' ? parseCpus(written) : undefined;
  return named.size > 0 && free !== undefined && [...named].every((cpu) => free.has(cpu));
}

const isEmpty = (entries: unknown): boolean =>
  entries === undefined || entries === null || (isMap(entries) && Object.keys(entries).length === 0);

function wholeCpus(config: ConfigView): number {
  const amounts = ['kubeReserved', 'systemReserved'].flatMap((field) =>
    config.entries(field).flatMap(([resource, amount]) => (resource === 'cpu' ? [parseQuantity(amount) ?? 0] : [])),
  );
  // In thousandths, as the kubelet counts: sums of decimal fractions are not exact.
  return Math.ceil(amounts.reduce((sum, amount) => sum + Math.ceil(amount * 1000 - 1e-6), 0) / 1000);
}
