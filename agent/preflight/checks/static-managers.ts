import { HALF_CORE_HANG, hasFault, describeFault } from '#shared/contract/kubelet-config/known-bad.ts';
import { reservesCpu } from '#shared/contract/kubelet-config/rules/reservations.ts';
import {
  exactMemoryIsAsked,
  reservedByNode,
  setAsideMemory,
} from '#shared/contract/kubelet-config/rules/static-memory.ts';
import { type Check, refuse } from '../preflight-check.ts';
import { usesFlag } from './kubelet-flags.ts';

/** The static CPU manager does not start where no CPU is kept back from pods (cpu_manager.go, `NewManager`). */
export const staticCpus: Check = ({ view }, { kubeletArgs }) => {
  if (kubeletArgs === undefined || view.text('cpuManagerPolicy') !== 'static' || reservesCpu(view)) return [];
  if (usesFlag(kubeletArgs, 'kube-reserved', 'system-reserved', 'reserved-cpus')) return [];
  const message = 'no CPU is kept back from pods, and the kubelet does not start with the static policy then';
  const advice = 'set reservedSystemCPUs, or cpu in kubeReserved or systemReserved';
  return [refuse('no-reserved-cpu', 'cpuManagerPolicy', message, advice)];
};

/** The Static memory manager wants what is reserved by NUMA node to be what is kept back, to the byte. */
export const staticMemory: Check = ({ view }, { kubeletArgs, memoryBytes }) => {
  if (kubeletArgs === undefined || memoryBytes === undefined || !exactMemoryIsAsked(view)) return [];
  if (usesFlag(kubeletArgs, 'kube-reserved', 'system-reserved', 'reserved-memory', 'eviction-hard')) return [];
  const reserved = reservedByNode(view);
  const aside = setAsideMemory(view, memoryBytes);
  if (aside === undefined || reserved === aside) return [];
  const message = `reservedMemory adds up to ${reserved} bytes, and kubeReserved, systemReserved and evictionHard to ${aside}`;
  const advice = `on this node the Static policy needs reservedMemory of ${aside} bytes in all`;
  return [refuse('memory-not-equal', 'reservedMemory', message, advice)];
};

/** What the table of known faults can only warn of. Two NUMA nodes are too few for it. */
export const halfCores: Check = ({ view, version }, { numaNodes, coreOf }) => {
  if (hasFault(HALF_CORE_HANG, version) === 'no' || !HALF_CORE_HANG.isIn(view) || (numaNodes?.size ?? 0) < 3) return [];
  const halves = [...coreOf].filter(([, core]) => [...core].some((cpu) => !coreOf.has(cpu))).map(([cpu]) => cpu);
  if (halves.length < 2) return [];
  const { field, suggestion } = HALF_CORE_HANG;
  const message = `${describeFault(HALF_CORE_HANG, `kubelet ${version}`)}, as it does here with CPU ${halves.slice(0, 5).join(', ')}`;
  return [refuse('known-bad', field, message, suggestion)];
};
