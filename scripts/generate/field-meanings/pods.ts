import type { PODS_FIELDS } from '#shared/contract/kubelet-config/fields/pods.ts';
import type { MeaningsOf } from './meanings-of.ts';

export const PODS_MEANINGS: MeaningsOf<typeof PODS_FIELDS> = {
  maxPods: 'How many pods may run on the node',
  podsPerCore: 'How many pods may run for each CPU core, up to maxPods; 0 for no such limit',
  podPidsLimit: 'How many processes a pod may have; -1 for as many as the node allows',
  clusterDomain: 'DNS domain of the cluster, which containers search besides the host’s',
  clusterDNS: 'IP addresses of the cluster’s DNS servers, which containers ask instead of the host’s',
  resolvConf: 'File of the host that the DNS settings of containers are based on',
  hairpinMode: 'How a pod reaches itself through its own Service',
  makeIPTablesUtilChains: 'Creates iptables chains that show other components how iptables is set up on the host',
  iptablesMasqueradeBit: 'Bit of the packet mark that stands for source NAT',
  iptablesDropBit: 'Bit of the packet mark that stands for dropping',
  cpuCFSQuota: 'Enforces the CPU limits of containers',
  cpuCFSQuotaPeriod: 'Period over which CPU limits are measured; another value needs the gate CustomCPUCFSQuotaPeriod',
  allowedUnsafeSysctls:
    'Kernel parameters, beyond the safe ones, that pods may set for themselves; * may end a pattern',
  defaultPodSysctls: 'Kernel parameters that pods get unless they set them; needs the gate DefaultPodSysctls',
  seccompDefault: 'Gives containers without a seccomp profile the runtime’s default one instead of none',
  protectKernelDefaults:
    'Keeps the kubelet from starting where kernel parameters are not what it needs, instead of changing them',
  userNamespaces: 'Settings of pods with a user namespace of their own',
  'userNamespaces.idsPerPod': 'How many user and group IDs such a pod gets; a multiple of 65536',
  crashLoopBackOff: 'How long containers that keep crashing have to wait',
  'crashLoopBackOff.maxContainerRestartPeriod': 'Longest wait before a container that keeps crashing starts again',
  enableControllerAttachDetach: 'Leaves attaching and detaching volumes to the controller manager',
  volumePluginDir: 'Directory that is searched for volume plugins of third parties',
  volumeStatsAggPeriod: 'How often the disk usage of volumes is measured',
};
