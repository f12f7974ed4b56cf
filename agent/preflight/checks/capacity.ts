import { reservedAmount } from '#shared/contract/kubelet-config/reserved-amount.ts';
import { parseCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';
import { type Check, refuse, warn } from '../preflight-check.ts';

/** Less than this of the machine left for pods is most likely a slip of a unit. */
const LITTLE = 0.1;

/** What is reserved must leave something: otherwise the kubelet ends (`validateNodeAllocatable`), or nothing fits. */
export const reservations: Check = ({ view }, { memoryBytes, onlineCpus, nodefs, mostPids }) =>
  [
    ['memory', memoryBytes, 'memory.available'] as const,
    ['cpu', onlineCpus?.size, undefined] as const,
    // Counted only where the kubelet looks at its file system at all.
    ['ephemeral-storage', countsStorage(view) ? nodefs?.bytes : undefined, 'nodefs.available'] as const,
    ['pid', mostPids, undefined] as const,
  ].flatMap(([resource, capacity, signal]) =>
    capacity === undefined ? [] : judge(resource, capacity, takenOf(view, resource, capacity, signal)),
  );

interface Taken {
  readonly field: string;
  readonly amount: number;
}

/** What is kept back from pods, by who keeps it. */
function takenOf(view: ConfigView, resource: string, capacity: number, signal: string | undefined): readonly Taken[] {
  const cpus = resource === 'cpu' ? (view.text('reservedSystemCPUs') ?? '') : '';
  // These CPUs take the place of the shares that the two maps name (cmd/kubelet/app/server.go).
  if (cpus !== '') return [{ field: 'reservedSystemCPUs', amount: parseCpus(cpus)?.size ?? 0 }];
  const parts = (['kubeReserved', 'systemReserved'] as const).map((field) => ({
    field,
    amount: reservedAmount(view, field, resource, capacity),
  }));
  const evicted = signal === undefined ? 0 : reservedAmount(view, 'evictionHard', signal, capacity);
  return [...parts, { field: 'evictionHard', amount: evicted }].filter(({ amount }) => amount > 0);
}

function judge(resource: string, capacity: number, parts: readonly Taken[]) {
  const taken = parts.reduce((sum, { amount }) => sum + amount, 0);
  const [{ field } = { field: 'kubeReserved' }] = parts.toSorted((a, b) => b.amount - a.amount);
  const names = parts.map((part) => part.field);
  const all = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)} take` : `${field} takes`;
  const message = `${all} ${show(resource, taken)} of ${show(resource, capacity)} ${resource} of this node`;
  if (taken >= capacity) return [refuse('nothing-left', field, `${message}, and nothing is left for pods`)];
  return taken < capacity * (1 - LITTLE) ? [] : [warn('little-left', field, message)];
}

const countsStorage = (view: ConfigView): boolean => view.flag('localStorageCapacityIsolation') !== false;

function show(resource: string, value: number): string {
  if (resource === 'cpu') return `${Math.round(value * 1000)}m`;
  return resource === 'pid' ? String(Math.round(value)) : mebibytes(value);
}

export const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)}Mi`;

/** CPUs that the machine does not have are an error at start (cmd/kubelet/app/server.go, `getReservedCPUs`). */
export const reservedCpus: Check = ({ view }, { onlineCpus }) => {
  const asked = parseCpus(view.text('reservedSystemCPUs') ?? '');
  if (asked === undefined || onlineCpus === undefined) return [];
  const missing = [...asked].filter((cpu) => !onlineCpus.has(cpu));
  if (missing.length === 0) return [];
  const message = `this node has no CPU ${missing.slice(0, 5).join(', ')}, so the kubelet would not start`;
  return [refuse('no-such-cpu', 'reservedSystemCPUs', message, `the node has ${onlineCpus.size} CPUs`)];
};

/** Memory is reserved by NUMA node; the Static memory manager does not start with one that is not there. */
export const reservedMemory: Check = ({ view }, { numaNodes }) => {
  if (numaNodes === undefined || view.text('memoryManagerPolicy') !== 'Static') return [];
  const missing = view
    .structs('reservedMemory')
    .map(({ numaNode }) => Number(numaNode ?? 0))
    .filter((node) => !numaNodes.has(node));
  if (missing.length === 0) return [];
  const message = `this node has no NUMA node ${missing.join(', ')}, so the kubelet would not start`;
  return [refuse('no-such-numa-node', 'reservedMemory', message, `it has ${[...numaNodes].join(', ')}`)];
};

/** Pods beyond the limit are refused when the kubelet comes up, and so are killed (k/k#105523). */
export const pods: Check = ({ view }, { runningPods, onlineCpus }) => {
  const most = view.number('maxPods');
  const perCore = view.number('podsPerCore') ?? 0;
  if (most === undefined || runningPods === undefined) return [];
  const limit = perCore > 0 && onlineCpus !== undefined ? Math.min(most, perCore * onlineCpus.size) : most;
  if (runningPods <= limit) return [];
  const field = limit < most ? 'podsPerCore' : 'maxPods';
  const message = `${runningPods} pods run on this node, and only ${limit} would be allowed: the others would be killed`;
  return [refuse('too-many-pods', field, message, 'drain the node first, or allow as many')];
};
