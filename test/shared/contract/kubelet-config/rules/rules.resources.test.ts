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
    'enforceNodeAllocatable: [system-reserved, system-reserved-compressible]\nsystemReservedCgroup: /s',
    'conflict [1]',
  ],
  [
    'parts came with 1.32',
    'enforceNodeAllocatable: [system-reserved-compressible]\nsystemReservedCgroup: /s',
    'unknown-value [0]',
    '1.31',
  ],
  ['enforcing needs cgroups per QoS', 'cgroupsPerQOS: false', 'conflict'],
  ['none needs no cgroups from 1.31 on', 'cgroupsPerQOS: false\nenforceNodeAllocatable: [none]', '', '1.31'],
  ['none needed them before', 'enforceNodeAllocatable: [none]\ncgroupsPerQOS: false', 'conflict', '1.30'],
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
  ['the static policy wants CPUs kept back', 'cpuManagerPolicy: static', '?missing-partner'],
  [
    'options are known',
    'cpuManagerPolicyOptions: {fast: "true"}\ncpuManagerPolicy: static\nreservedSystemCPUs: "0"',
    'unknown-value .fast',
  ],
  [
    'alpha options need their gate',
    'cpuManagerPolicyOptions: {align-by-socket: "true"}\ncpuManagerPolicy: static\nreservedSystemCPUs: "0"',
    'gate-off .align-by-socket',
  ],
  [
    'options have values of their kind',
    'cpuManagerPolicyOptions: {full-pcpus-only: "yes"}\ncpuManagerPolicy: static\nreservedSystemCPUs: "0"',
    'unknown-value .full-pcpus-only',
  ],
  [
    'static memory wants sums to be equal',
    'reservedMemory: [{limits: {memory: 1Gi}}]\nmemoryManagerPolicy: Static\nkubeReserved: {memory: 1Gi}',
    '?memory-not-equal',
  ],
  ['static memory wants some', 'memoryManagerPolicy: Static\nevictionHard: {}', '?memory-not-equal'],
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
