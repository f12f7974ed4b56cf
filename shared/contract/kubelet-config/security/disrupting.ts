import type { PowerRow } from './power.ts';

/** Fields that can only harm what the node does for its pods, and those that are worth nothing to an attacker. */
export const DISRUPTING: readonly PowerRow[] = [
  {
    fields: [
      'evictionHard',
      'evictionSoft',
      'evictionSoftGracePeriod',
      'evictionPressureTransitionPeriod',
      'evictionMaxPodGracePeriod',
      'evictionMinimumReclaim',
      'mergeDefaultEvictionSettings',
    ],
    gives: 'evicts pods, or lets the node run out of memory and disk',
  },
  {
    fields: ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods', 'shutdownGracePeriodByPodPriority'],
    gives: 'ends pods hard when the node shuts down, or delays its shutdown',
  },
  {
    fields: ['maxPods', 'podsPerCore'],
    gives: 'has the node refuse pods, or take more than it can bear',
  },
  {
    fields: [
      'enforceNodeAllocatable',
      'kubeReserved',
      'systemReserved',
      'kubeReservedCgroup',
      'systemReservedCgroup',
      'reservedSystemCPUs',
      'reservedMemory',
      'qosReserved',
      'memoryThrottlingFactor',
      'memoryReservationPolicy',
      'localStorageCapacityIsolation',
    ],
    gives: 'takes memory, CPU or disk from pods, or lets pods take it from the host',
  },
  {
    fields: [
      'cgroupRoot',
      'cgroupsPerQOS',
      'cgroupDriver',
      'kubeletCgroups',
      'systemCgroups',
      'kernelMemcgNotification',
    ],
    gives: 'puts pods or the host’s processes into other cgroups, without their limits',
  },
  {
    fields: [
      'cpuManagerPolicy',
      'cpuManagerPolicyOptions',
      'cpuManagerReconcilePeriod',
      'memoryManagerPolicy',
      'topologyManagerPolicy',
      'topologyManagerPolicyOptions',
      'topologyManagerScope',
      'cpuCFSQuota',
      'cpuCFSQuotaPeriod',
      'singleProcessOOMKill',
      'oomScoreAdj',
      'maxOpenFiles',
    ],
    gives: 'slows pods or the kubelet down, or has pods refused',
  },
  {
    fields: ['memorySwap', 'failSwapOn'],
    gives:
      'lets the node swap: pods get slow, and before kernel 6.3 what is in memory-backed volumes may reach the disk',
  },
  { fields: ['failCgroupV1'], gives: 'keeps the kubelet from starting on hosts with cgroup v1' },
  { fields: ['userNamespaces'], gives: 'keeps pods with a user namespace from starting' },
  {
    fields: ['registerNode', 'registerWithTaints'],
    gives: 'has new nodes take no pods, or pods that are not meant for them',
  },
  {
    fields: [
      'nodeStatusUpdateFrequency',
      'nodeStatusReportFrequency',
      'nodeLeaseDurationSeconds',
      'kubeAPIQPS',
      'kubeAPIBurst',
      'configMapAndSecretChangeDetectionStrategy',
      'syncFrequency',
    ],
    gives: 'has healthy nodes marked lost, Secrets come late to pods, or the API server drowned in requests',
  },
  {
    fields: ['eventRecordQPS', 'eventBurst'],
    gives: 'hides what happens to pods, or floods the API server',
  },
  {
    fields: [
      'registryPullQPS',
      'registryBurst',
      'serializeImagePulls',
      'maxParallelImagePulls',
      'imageMinimumGCAge',
      'imageMaximumGCAge',
      'imageGCHighThresholdPercent',
      'imageGCLowThresholdPercent',
      'runtimeRequestTimeout',
    ],
    gives: 'slows the start of pods down, fills the disk with images, or has the registry refuse the node',
  },
  {
    fields: ['containerLogMaxSize', 'containerLogMaxFiles', 'containerLogMaxWorkers', 'containerLogMonitorInterval'],
    gives: 'loses what containers logged, or fills the disk with it',
  },
  {
    fields: [
      'clusterDomain',
      'hairpinMode',
      'enableControllerAttachDetach',
      'iptablesMasqueradeBit',
      'iptablesDropBit',
    ],
    gives: 'breaks the names, network or volumes of pods',
  },
  {
    fields: ['crashLoopBackOff'],
    gives: 'has pods that crash wait longer, or restart without a pause',
  },
  {
    fields: [
      'enableContentionProfiling',
      'fileCheckFrequency',
      'httpCheckFrequency',
      'logging',
      'nodeStatusMaxImages',
      'showHiddenMetricsForVersion',
      'tlsCurvePreferences',
      'tracing',
      'volumeStatsAggPeriod',
    ],
    gives: 'gains nothing worth having',
  },
];
