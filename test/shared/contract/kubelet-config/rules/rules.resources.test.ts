import { rules } from '../support/rule-table.ts';

rules('reservations', [
  ['what can be reserved is known', 'kubeReserved: {gpu: "1"}', 'unknown-value .gpu'],
  ['a reservation is a quantity', 'systemReserved: {memory: lots}', 'bad-quantity .memory'],
  ['a reservation is not negative', 'systemReserved: {cpu: "-1"}', 'out-of-range .cpu'],
  ['QoS reserves memory only', 'qosReserved: {cpu: 50%}', 'unknown-value .cpu'],
  ['QoS reserves a percentage', 'qosReserved: {memory: 1Gi}', 'bad-quantity .memory'],
  ['what can be enforced is known', 'enforceNodeAllocatable: [pod]', 'unknown-value [0]'],
  ['none stands alone', 'enforceNodeAllocatable: [pods, none]', 'conflict [1]'],
  ['nothing is enforced twice from 1.31 on', 'enforceNodeAllocatable: [pods, pods]', 'duplicate-item [1]', '1.31'],
  ['doubled items passed before', 'enforceNodeAllocatable: [pods, pods]', '', '1.30'],
  ['enforcing needs the cgroup', 'enforceNodeAllocatable: [pods, kube-reserved]', 'missing-partner [1]'],
  [
    'a part is not enforced beside the whole',
    'systemReserved: {cpu: "1"}\nsystemReservedCgroup: /s\nenforceNodeAllocatable: [system-reserved, system-reserved-compressible]',
    'conflict enforceNodeAllocatable[1]',
  ],
  [
    'parts came with 1.32',
    'systemReservedCgroup: /s\nenforceNodeAllocatable: [system-reserved-compressible]',
    'unknown-value enforceNodeAllocatable[0]',
    '1.31',
  ],
  ['enforcing needs cgroups per QoS', 'cgroupsPerQOS: false', 'conflict'],
  ['none needs no cgroups from 1.31 on', 'cgroupsPerQOS: false\nenforceNodeAllocatable: [none]', '', '1.31'],
  [
    'none needed them before',
    'cgroupsPerQOS: false\nenforceNodeAllocatable: [none]',
    'conflict enforceNodeAllocatable',
    '1.30',
  ],
  ['an empty list needs none', 'cgroupsPerQOS: false\nenforceNodeAllocatable: []', '', '1.30'],
  ['system cgroups need a root', 'systemCgroups: /sys', 'missing-partner'],
  ['reserved CPUs are a list', 'reservedSystemCPUs: 0..3', 'bad-cpu-list'],
  ['reserved CPUs exclude reserved cgroups', 'reservedSystemCPUs: "0"\nkubeReservedCgroup: /k', 'conflict'],
  [
    'only memory is reserved by NUMA node',
    'reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]',
    'unknown-value [0].limits.cpu',
  ],
  [
    'nothing is no reservation',
    'reservedMemory: [{numaNode: 0, limits: {memory: 0}}]',
    'out-of-range [0].limits.memory',
  ],
  [
    'a NUMA node reserves a resource once',
    'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {limits: {memory: 1Gi}}]',
    'duplicate-item [1].limits.memory',
  ],
]);

rules('managers', [
  ['CPU policies are two', 'cpuManagerPolicy: dynamic', 'unknown-value'],
  ['options belong to the static policy', 'cpuManagerPolicyOptions: {full-pcpus-only: "true"}', 'conflict'],
  ['the static policy wants CPUs kept back', 'cpuManagerPolicy: static', 'no-reserved-cpu cpuManagerPolicy'],
  [
    'options are known',
    'cpuManagerPolicy: static\nreservedSystemCPUs: "0"\ncpuManagerPolicyOptions: {fast: "true"}',
    'unknown-value cpuManagerPolicyOptions.fast',
  ],
  [
    'alpha options need their gate',
    'cpuManagerPolicy: static\nreservedSystemCPUs: "0"\ncpuManagerPolicyOptions: {align-by-socket: "true"}',
    'gate-off cpuManagerPolicyOptions.align-by-socket',
  ],
  [
    'options have values of their kind',
    'cpuManagerPolicy: static\nreservedSystemCPUs: "0"\ncpuManagerPolicyOptions: {full-pcpus-only: "yes"}',
    'unknown-value cpuManagerPolicyOptions.full-pcpus-only',
  ],
  [
    'static memory wants sums to be equal',
    'memoryManagerPolicy: Static\nkubeReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1Gi}}]',
    'memory-not-equal reservedMemory',
  ],
  ['static memory wants some', 'memoryManagerPolicy: Static\nevictionHard: {}', 'memory-not-equal memoryManagerPolicy'],
  [
    'the default threshold counts among them',
    'memoryManagerPolicy: Static\nkubeReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1124Mi}}]',
    '',
  ],
  [
    'a threshold of 0% does not',
    'memoryManagerPolicy: Static\nevictionHard: {memory.available: 0%}\nsystemReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1Gi}}]',
    '',
  ],
  [
    'of a share only the node knows the size',
    'memoryManagerPolicy: Static\nevictionHard: {memory.available: 5%}\nreservedMemory: [{limits: {memory: 1Gi}}]',
    '',
  ],
  ['nobody asks where the gate is off', 'memoryManagerPolicy: Static', '', '1.21'],
  ['memory policies begin with a capital', 'memoryManagerPolicy: static', 'unknown-value'],
  ['topology options are known', 'topologyManagerPolicyOptions: {near: "true"}', 'unknown-value .near'],
  [
    'the topology manager had a gate to 1.26',
    'topologyManagerPolicy: restricted\nfeatureGates: {TopologyManager: false}',
    'gate-off',
    '1.26',
  ],
]);

rules('eviction', [
  ['signals are known', 'evictionHard: {memory.free: 1Gi}', 'unknown-signal ["memory.free"]'],
  [
    'container file systems came with 1.29',
    'evictionHard: {containerfs.available: 5%}',
    'unknown-signal ["containerfs.available"]',
    '1.28',
  ],
  ['a threshold is more than nothing', 'evictionHard: {memory.available: "0"}', 'out-of-range ["memory.available"]'],
  ['0% switches a signal off', 'evictionHard: {memory.available: 0%}', ''],
  ['a threshold is at most all', 'evictionHard: {memory.available: 101%}', 'out-of-range ["memory.available"]'],
  ['a threshold is an amount', 'evictionHard: {memory.available: x%}', 'bad-quantity ["memory.available"]'],
  [
    'a soft threshold has a grace period',
    'evictionSoft: {memory.available: 5%}',
    'missing-partner ["memory.available"]',
  ],
  [
    'of its own signal',
    'evictionSoft: {memory.available: 5%}\nevictionSoftGracePeriod: {nodefs.available: 1m}',
    'missing-partner ["memory.available"]',
  ],
  [
    'a grace period is a duration',
    'evictionSoftGracePeriod: {memory.available: "90"}',
    'bad-duration ["memory.available"]',
  ],
  [
    'a grace period is not negative',
    'evictionSoftGracePeriod: {memory.available: -1m}',
    'out-of-range ["memory.available"]',
  ],
  ['a reclaim may be nothing', 'evictionMinimumReclaim: {memory.available: "0"}', ''],
  ['but not 0%', 'evictionMinimumReclaim: {memory.available: 0%}', 'out-of-range ["memory.available"]'],
]);

rules(
  'static managers over a node’s own config, which may reserve the rest',
  [
    ['CPUs', 'cpuManagerPolicy: static', '?no-reserved-cpu cpuManagerPolicy', '1.37'],
    ['memory', 'memoryManagerPolicy: Static', '?memory-not-equal memoryManagerPolicy', '1.37'],
    [
      'memory in maps that are merged, too',
      'memoryManagerPolicy: Static\nkubeReserved: {cpu: "1"}\nsystemReserved: {}\nevictionHard: {}\nreservedMemory: [{limits: {memory: 1Gi}}]',
      '?memory-not-equal reservedMemory',
      '1.37',
    ],
  ],
  'overlay',
);
