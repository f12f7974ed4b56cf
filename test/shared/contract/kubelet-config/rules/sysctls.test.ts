import { rules } from '../support/rule-table.ts';

const ON = 'featureGates: {DefaultPodSysctls: true}';

rules('the sysctls that pods get', [
  ['take the gate', 'defaultPodSysctls: {net.core.somaxconn: "1"}', 'gate-off', '1.37'],
  ['are nothing where there are none', 'defaultPodSysctls: {}', '', '1.37'],
  [
    'have a namespace',
    `defaultPodSysctls: {net.core.somaxconn: "1", kernel.shmall: "2", kernel.domainname: a, user.max_ipc_namespaces: "3", fs.mqueue.msg_max: "4"}\n${ON}`,
    '',
    '1.37',
  ],
  [
    'are none of the whole node',
    `defaultPodSysctls: {vm.swappiness: "1", kernel.shmfoo: "1"}\n${ON}`,
    'unknown-value ["vm.swappiness"], unknown-value ["kernel.shmfoo"]',
    '1.37',
  ],
  [
    'have names',
    `defaultPodSysctls: {"net..a": "1", Net.a: "1", "net.*": "1"}\n${ON}`,
    'bad-name ["net..a"], bad-name ["Net.a"], bad-name ["net.*"]',
    '1.37',
  ],
  [
    'are there once, with dots or with slashes',
    `defaultPodSysctls: {net.core.somaxconn: "1", net/core/somaxconn: "2"}\n${ON}`,
    'duplicate-item ["net/core/somaxconn"]',
    '1.37',
  ],
  [
    'may be of a user namespace from 1.37 on',
    'allowedUnsafeSysctls: ["user.*", kernel.domainname]',
    '?fails-at-start [0], ?fails-at-start [1]',
    '1.36',
  ],
  ['may be of a user namespace now', 'allowedUnsafeSysctls: ["user.*", kernel.domainname]', '', '1.37'],
]);

rules('the share of memory at which pods are throttled', [
  ['is refused without its gate', 'memoryThrottlingFactor: 0.8\nfeatureGates: {MemoryQoS: false}', 'gate-off', '1.37'],
  ['may stay as it was by default', 'memoryThrottlingFactor: 0.9\nfeatureGates: {MemoryQoS: false}', '', '1.37'],
  ['was taken before', 'memoryThrottlingFactor: 0.8', '', '1.36'],
  ['is taken with the gate, which is on', 'memoryThrottlingFactor: 0.8', '', '1.37'],
]);
