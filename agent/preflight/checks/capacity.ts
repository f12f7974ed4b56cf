import { parseCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import type { ConfigView } from '#shared/contract/kubelet-config/view.ts';
import { type Check, refuse, warn } from '../check.ts';

/** Less than this of the machine left for pods is most likely a slip of a unit. */
const LITTLE = 0.1;

/** What is reserved must leave something: otherwise the kubelet ends (`validateNodeAllocatable`), or nothing fits. */
export const reservations: Check = ({ view }, { memoryBytes, onlineCpus }) => [
  ...(memoryBytes === undefined ? [] : judge(view, 'memory', memoryBytes, 'memory.available')),
  ...(onlineCpus === undefined ? [] : judge(view, 'cpu', onlineCpus.size, undefined)),
];

function judge(view: ConfigView, resource: string, capacity: number, signal: string | undefined) {
  const parts = [
    amount(view, 'kubeReserved', resource, capacity),
    amount(view, 'systemReserved', resource, capacity),
    signal === undefined ? 0 : amount(view, 'evictionHard', signal, capacity),
  ];
  const taken = parts.reduce((sum, part) => sum + part, 0);
  const names = 'kubeReserved, systemReserved and evictionHard';
  const numbers = `${show(resource, taken)} of ${show(resource, capacity)}`;
  if (taken >= capacity) {
    const message = `${names} take ${numbers} ${resource} of this node, and nothing is left for pods`;
    return [refuse('nothing-left', resource === 'cpu' ? 'kubeReserved' : 'evictionHard', message)];
  }
  if (taken < capacity * (1 - LITTLE)) return [];
  return [warn('little-left', 'kubeReserved', `${names} take ${numbers} ${resource} of this node`)];
}

function amount(view: ConfigView, field: string, name: string, capacity: number): number {
  const text = view.entries(field).find(([key]) => key === name)?.[1] ?? '0';
  const share = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  return share === undefined ? (parseQuantity(text) ?? 0) : (Number(share) / 100) * capacity;
}

const show = (resource: string, value: number): string =>
  resource === 'cpu' ? `${Math.round(value * 1000)}m` : `${Math.round(value / 2 ** 20)}Mi`;

/** CPUs that the machine does not have are an error at start (cmd/kubelet/app/server.go, `getReservedCPUs`). */
export const reservedCpus: Check = ({ view }, { onlineCpus }) => {
  const asked = parseCpus(view.text('reservedSystemCPUs') ?? '');
  if (asked === undefined || onlineCpus === undefined) return [];
  const missing = [...asked].filter((cpu) => !onlineCpus.has(cpu));
  if (missing.length === 0) return [];
  const message = `this node has no CPU ${missing.slice(0, 5).join(', ')}, and the kubelet does not start`;
  return [refuse('no-such-cpu', 'reservedSystemCPUs', message, `it has ${onlineCpus.size} of them`)];
};

/** Memory is reserved by NUMA node; the Static memory manager does not start with one that is not there. */
export const reservedMemory: Check = ({ view }, { numaNodes }) => {
  if (numaNodes === undefined || view.text('memoryManagerPolicy') !== 'Static') return [];
  const missing = view
    .structs('reservedMemory')
    .map(({ numaNode }) => Number(numaNode ?? 0))
    .filter((node) => !numaNodes.has(node));
  if (missing.length === 0) return [];
  const message = `this node has no NUMA node ${missing.join(', ')}, and the kubelet does not start`;
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
