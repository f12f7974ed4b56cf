import { rules } from '../support/rule-table.ts';

rules('reservations', [
  ['what can be reserved is known', 'kubeReserved: {gpu: "1"}', '1.34', 'unknown-value kubeReserved.gpu'],
  ['a reservation is a quantity', 'systemReserved: {memory: lots}', '1.34', 'bad-quantity systemReserved.memory'],
  ['a reservation is not negative', 'systemReserved: {cpu: "-1"}', '1.34', 'out-of-range systemReserved.cpu'],
  ['QoS reserves memory only', 'qosReserved: {cpu: 50%}', '1.34', 'unknown-value qosReserved.cpu'],
  ['QoS reserves a percentage', 'qosReserved: {memory: 1Gi}', '1.34', 'bad-quantity qosReserved.memory'],
  ['what can be enforced is known', 'enforceNodeAllocatable: [pod]', '1.34', 'unknown-value enforceNodeAllocatable[0]'],
  ['none stands alone', 'enforceNodeAllocatable: [pods, none]', '1.34', 'conflict enforceNodeAllocatable[1]'],
  [
    'nothing is enforced twice from 1.31 on',
    'enforceNodeAllocatable: [pods, pods]',
    '1.31',
    'duplicate-item enforceNodeAllocatable[1]',
  ],
  ['doubled items passed before', 'enforceNodeAllocatable: [pods, pods]', '1.30', ''],
  [
    'enforcing needs the cgroup',
    'enforceNodeAllocatable: [pods, kube-reserved]',
    '1.34',
    'missing-partner enforceNodeAllocatable[1]',
  ],
  [
    'a part is not enforced beside the whole',
    'systemReserved: {cpu: "1"}\nsystemReservedCgroup: /s\nenforceNodeAllocatable: [system-reserved, system-reserved-compressible]',
    '1.34',
    'conflict enforceNodeAllocatable[1]',
  ],
  [
    'parts came with 1.32',
    'systemReservedCgroup: /s\nenforceNodeAllocatable: [system-reserved-compressible]',
    '1.31',
    'unknown-value enforceNodeAllocatable[0]',
  ],
  ['enforcing needs cgroups per QoS', 'cgroupsPerQOS: false', '1.34', 'conflict cgroupsPerQOS'],
  ['none needs no cgroups from 1.31 on', 'cgroupsPerQOS: false\nenforceNodeAllocatable: [none]', '1.31', ''],
  [
    'none needed them before',
    'cgroupsPerQOS: false\nenforceNodeAllocatable: [none]',
    '1.30',
    'conflict enforceNodeAllocatable',
  ],
  ['an empty list needs none', 'cgroupsPerQOS: false\nenforceNodeAllocatable: []', '1.30', ''],
  ['system cgroups need a root', 'systemCgroups: /sys', '1.34', 'missing-partner systemCgroups'],
  ['reserved CPUs are a list', 'reservedSystemCPUs: 0..3', '1.34', 'bad-cpu-list reservedSystemCPUs'],
  [
    'reserved CPUs exclude reserved cgroups',
    'reservedSystemCPUs: "0"\nkubeReservedCgroup: /k',
    '1.34',
    'conflict reservedSystemCPUs',
  ],
  [
    'only memory is reserved by NUMA node',
    'reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]',
    '1.34',
    'unknown-value reservedMemory[0].limits.cpu',
  ],
  [
    'nothing is no reservation',
    'reservedMemory: [{numaNode: 0, limits: {memory: 0}}]',
    '1.34',
    'out-of-range reservedMemory[0].limits.memory',
  ],
  [
    'a NUMA node reserves a resource once',
    'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {limits: {memory: 1Gi}}]',
    '1.34',
    'duplicate-item reservedMemory[1].limits.memory',
  ],
]);

rules('managers', [
  ['CPU policies are two', 'cpuManagerPolicy: dynamic', '1.34', 'unknown-value cpuManagerPolicy'],
  [
    'options belong to the static policy',
    'cpuManagerPolicyOptions: {full-pcpus-only: "true"}',
    '1.34',
    'conflict cpuManagerPolicyOptions',
  ],
  ['the static policy wants CPUs kept back', 'cpuManagerPolicy: static', '1.34', 'no-reserved-cpu cpuManagerPolicy'],
  [
    'options are known',
    'cpuManagerPolicy: static\nreservedSystemCPUs: "0"\ncpuManagerPolicyOptions: {fast: "true"}',
    '1.34',
    'unknown-value cpuManagerPolicyOptions.fast',
  ],
  [
    'alpha options need their gate',
    'cpuManagerPolicy: static\nreservedSystemCPUs: "0"\ncpuManagerPolicyOptions: {align-by-socket: "true"}',
    '1.34',
    'gate-off cpuManagerPolicyOptions.align-by-socket',
  ],
  [
    'options have values of their kind',
    'cpuManagerPolicy: static\nreservedSystemCPUs: "0"\ncpuManagerPolicyOptions: {full-pcpus-only: "yes"}',
    '1.34',
    'unknown-value cpuManagerPolicyOptions.full-pcpus-only',
  ],
  [
    'static memory wants sums to be equal',
    'memoryManagerPolicy: Static\nkubeReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1Gi}}]',
    '1.34',
    'memory-not-equal reservedMemory',
  ],
  [
    'static memory wants some',
    'memoryManagerPolicy: Static\nevictionHard: {}',
    '1.34',
    'memory-not-equal memoryManagerPolicy',
  ],
  [
    'the default threshold counts among them',
    'memoryManagerPolicy: Static\nkubeReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1124Mi}}]',
    '1.34',
    '',
  ],
  [
    'a threshold of 0% does not',
    'memoryManagerPolicy: Static\nevictionHard: {memory.available: 0%}\nsystemReserved: {memory: 1Gi}\nreservedMemory: [{limits: {memory: 1Gi}}]',
    '1.34',
    '',
  ],
  [
    'of a share only the node knows the size',
    'memoryManagerPolicy: Static\nevictionHard: {memory.available: 5%}\nreservedMemory: [{limits: {memory: 1Gi}}]',
    '1.34',
    '',
  ],
  ['nobody asks where the gate is off', 'memoryManagerPolicy: Static', '1.21', ''],
  ['memory policies begin with a capital', 'memoryManagerPolicy: static', '1.34', 'unknown-value memoryManagerPolicy'],
  [
    'topology options are known',
    'topologyManagerPolicyOptions: {near: "true"}',
    '1.34',
    'unknown-value topologyManagerPolicyOptions.near',
  ],
  [
    'the topology manager had a gate to 1.26',
    'topologyManagerPolicy: restricted\nfeatureGates: {TopologyManager: false}',
    '1.26',
    'gate-off topologyManagerPolicy',
  ],
]);

rules('eviction', [
  ['signals are known', 'evictionHard: {memory.free: 1Gi}', '1.34', 'unknown-signal evictionHard["memory.free"]'],
  [
    'container file systems came with 1.29',
    'evictionHard: {containerfs.available: 5%}',
    '1.28',
    'unknown-signal evictionHard["containerfs.available"]',
  ],
  [
    'a threshold is more than nothing',
    'evictionHard: {memory.available: "0"}',
    '1.34',
    'out-of-range evictionHard["memory.available"]',
  ],
  ['0% switches a signal off', 'evictionHard: {memory.available: 0%}', '1.34', ''],
  [
    'a threshold is at most all',
    'evictionHard: {memory.available: 101%}',
    '1.34',
    'out-of-range evictionHard["memory.available"]',
  ],
  [
    'a threshold is an amount',
    'evictionHard: {memory.available: x%}',
    '1.34',
    'bad-quantity evictionHard["memory.available"]',
  ],
  [
    'a soft threshold has a grace period',
    'evictionSoft: {memory.available: 5%}',
    '1.34',
    'missing-partner evictionSoft["memory.available"]',
  ],
  [
    'of its own signal',
    'evictionSoft: {memory.available: 5%}\nevictionSoftGracePeriod: {nodefs.available: 1m}',
    '1.34',
    'missing-partner evictionSoft["memory.available"]',
  ],
  [
    'a grace period is a duration',
    'evictionSoftGracePeriod: {memory.available: "90"}',
    '1.34',
    'bad-duration evictionSoftGracePeriod["memory.available"]',
  ],
  [
    'a grace period is not negative',
    'evictionSoftGracePeriod: {memory.available: -1m}',
    '1.34',
    'out-of-range evictionSoftGracePeriod["memory.available"]',
  ],
  ['a reclaim may be nothing', 'evictionMinimumReclaim: {memory.available: "0"}', '1.34', ''],
  [
    'but not 0%',
    'evictionMinimumReclaim: {memory.available: 0%}',
    '1.34',
    'out-of-range evictionMinimumReclaim["memory.available"]',
  ],
]);

rules(
  'static managers over a node’s own config, which may reserve the rest',
  [
    ['CPUs', 'cpuManagerPolicy: static', '1.37', '?no-reserved-cpu cpuManagerPolicy'],
    ['memory', 'memoryManagerPolicy: Static', '1.37', '?memory-not-equal memoryManagerPolicy'],
    [
      'memory in maps that are merged, too',
      'memoryManagerPolicy: Static\nkubeReserved: {cpu: "1"}\nsystemReserved: {}\nevictionHard: {}\nreservedMemory: [{limits: {memory: 1Gi}}]',
      '1.37',
      '?memory-not-equal reservedMemory',
    ],
  ],
  'overlay',
);
