import type { RESOURCES_FIELDS } from '#shared/contract/kubelet-config/fields/resources.ts';
import type { MeaningsOf } from './meanings-of.ts';

export const RESOURCES_MEANINGS: MeaningsOf<typeof RESOURCES_FIELDS> = {
  cgroupRoot: 'Cgroup below which all pods run; empty leaves it to the container runtime',
  cgroupsPerQOS: 'Gives each QoS class of pods a cgroup of its own',
  cgroupDriver: 'Who manages the cgroups of pods: systemd, or the kubelet through the file system',
  kubeletCgroups: 'Cgroup that the kubelet itself runs in',
  systemCgroups: 'Cgroup for the processes of the host that have none yet',
  qosReserved: 'Share of requested memory that pods of lower QoS classes cannot use; needs the gate QOSReserved',
  enforceNodeAllocatable: 'Which cgroups the kubelet limits: that of all pods, and those of the reserved parts',
  kubeReserved: 'What pods cannot have because the kubelet and the container runtime need it',
  systemReserved: 'What pods cannot have because the operating system needs it',
  kubeReservedCgroup: 'Cgroup of the kubelet and the container runtime, on which kubeReserved is enforced',
  systemReservedCgroup: 'Cgroup of the operating system’s services, on which systemReserved is enforced',
  reservedSystemCPUs:
    'CPUs kept for the operating system and the kubelet; replaces cpu in kubeReserved and systemReserved',
  cpuManagerPolicy:
    'static gives exclusive CPUs to containers of Guaranteed pods that request whole CPUs; none lets all share',
  cpuManagerPolicyOptions: 'Options of the static CPU policy, as text: "true" or "false"',
  cpuManagerReconcilePeriod: 'How often the CPU manager corrects the CPUs that containers run on',
  memoryManagerPolicy:
    'Static keeps the memory and huge pages of a Guaranteed pod on as few NUMA nodes as possible; None does not',
  reservedMemory: 'How the reserved memory is spread over NUMA nodes, for the memory policy Static',
  'reservedMemory[].limits': 'Memory and huge pages that pods cannot have on this NUMA node',
  'reservedMemory[].numaNode': 'Number of the NUMA node',
  topologyManagerPolicy: 'How strictly the CPUs, memory and devices of a pod have to be on one NUMA node',
  topologyManagerPolicyOptions: 'Options of the topology policy, as text',
  topologyManagerScope: 'Whether the topology policy aligns each container or the whole pod',
  memoryThrottlingFactor:
    'How far between request and limit a container’s memory is throttled, from 0 to 1; needs the gate MemoryQoS',
  memoryReservationPolicy:
    'Whether the kernel protects the memory that pods request, by QoS class; needs the gate MemoryQoS',
  memorySwap: 'How pods use the node’s swap',
  'memorySwap.swapBehavior': 'Whether pods get no swap, or an amount in proportion to the memory that they request',
  failSwapOn: 'Keeps the kubelet from starting while the host has swap switched on',
  failCgroupV1: 'Keeps the kubelet from starting on a host with cgroup v1',
  singleProcessOOMKill: 'On cgroup v2, out of memory kills one process of a container instead of all of them',
  localStorageCapacityIsolation: 'Measures and limits the ephemeral storage that pods use',
  oomScoreAdj: 'How soon the kernel kills the kubelet when memory runs out: -1000 never, 1000 first',
  maxOpenFiles: 'How many files the kubelet may have open',
  kernelMemcgNotification: 'Lets the kernel report low memory at once, besides the kubelet’s own polling',
};
