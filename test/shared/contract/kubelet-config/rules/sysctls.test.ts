import { rules } from '../support/rule-table.ts';

const ON = 'featureGates: {DefaultPodSysctls: true}\n';

rules('the sysctls that pods get', [
  ['take the gate', 'defaultPodSysctls: {net.core.somaxconn: "1"}', '1.37', 'gate-off defaultPodSysctls'],
  ['are nothing where there are none', 'defaultPodSysctls: {}', '1.37', ''],
  [
    'have a namespace',
    `${ON}defaultPodSysctls: {net.core.somaxconn: "1", kernel.shmall: "2", kernel.domainname: a, user.max_ipc_namespaces: "3", fs.mqueue.msg_max: "4"}`,
    '1.37',
    '',
  ],
  [
    'are none of the whole node',
    `${ON}defaultPodSysctls: {vm.swappiness: "1", kernel.shmfoo: "1"}`,
    '1.37',
    'unknown-value defaultPodSysctls["vm.swappiness"], unknown-value defaultPodSysctls["kernel.shmfoo"]',
  ],
  [
    'have names',
    `${ON}defaultPodSysctls: {"net..a": "1", Net.a: "1", "net.*": "1"}`,
    '1.37',
    'bad-name defaultPodSysctls["net..a"], bad-name defaultPodSysctls["Net.a"], bad-name defaultPodSysctls["net.*"]',
  ],
  [
    'are there once, with dots or with slashes',
    `${ON}defaultPodSysctls: {net.core.somaxconn: "1", net/core/somaxconn: "2"}`,
    '1.37',
    'duplicate-item defaultPodSysctls["net/core/somaxconn"]',
  ],
  [
    'may be of a user namespace from 1.37 on',
    'allowedUnsafeSysctls: ["user.*", kernel.domainname]',
    '1.36',
    '?fails-at-start allowedUnsafeSysctls[0], ?fails-at-start allowedUnsafeSysctls[1]',
  ],
  ['may be of a user namespace now', 'allowedUnsafeSysctls: ["user.*", kernel.domainname]', '1.37', ''],
]);

rules('the share of memory at which pods are throttled', [
  [
    'is refused without its gate',
    'memoryThrottlingFactor: 0.8\nfeatureGates: {MemoryQoS: false}',
    '1.37',
    'gate-off memoryThrottlingFactor',
  ],
  ['may stay as it was by default', 'memoryThrottlingFactor: 0.9\nfeatureGates: {MemoryQoS: false}', '1.37', ''],
  ['was taken before', 'memoryThrottlingFactor: 0.8', '1.36', ''],
  ['is taken with the gate, which is on', 'memoryThrottlingFactor: 0.8', '1.37', ''],
]);
