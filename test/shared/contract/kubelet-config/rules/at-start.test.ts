import { rules } from '../support/rule-table.ts';

rules('what stops a kubelet only when it comes to it', [
  [
    'sysctls of pods have a namespace',
    'allowedUnsafeSysctls: ["net.*", kernel.sem, "kernel.shm*", net/ipv4/tcp_syncookies]',
    '',
  ],
  [
    'sysctls of the whole node have none',
    'allowedUnsafeSysctls: [vm.swappiness, "kernel.*"]',
    '?fails-at-start [0], ?fails-at-start [1]',
  ],
  ['a pattern ends with its star', 'allowedUnsafeSysctls: ["net.*.a"]', '?fails-at-start [0]'],
  ['slashes came later', 'allowedUnsafeSysctls: [net/core/somaxconn]', '?fails-at-start [0]', '1.20'],
  ['curves are those that Go has', 'tlsCurvePreferences: [29, 23, 4588]', '', '1.36'],
  [
    'curves are not doubled or made up',
    'tlsCurvePreferences: [29, 29, null, 7]',
    '?fails-at-start [1], ?fails-at-start [2], ?fails-at-start [3]',
    '1.36',
  ],
  [
    'runtimes are reached over a socket',
    'containerRuntimeEndpoint: unix:///run/a.sock\nimageServiceEndpoint: /run/b.sock',
    '',
  ],
  ['a socket may be written as a path', 'containerRuntimeEndpoint: run/a.sock', ''],
  ['a scheme needs no slashes to be one', 'containerRuntimeEndpoint: "unix-abstract:x"', '?fails-at-start', '1.37'],
  [
    'what is not a URL is not a path either',
    'containerRuntimeEndpoint: "50%"\nimageServiceEndpoint: "a b"',
    '?fails-at-start, ?fails-at-start imageServiceEndpoint',
    '1.37',
  ],
  ['and not over the network', 'containerRuntimeEndpoint: tcp://127.0.0.1:2375', '?fails-at-start'],
]);

rules('what the kubelet serves with', [
  ['a certificate has a key', 'tlsCertFile: a.crt\ntlsPrivateKeyFile: a.key', ''],
  ['a certificate without a key serves nobody', 'tlsCertFile: a.crt', '?fails-at-start'],
  ['a key without a certificate neither', 'tlsPrivateKeyFile: a.key', '?fails-at-start'],
  [
    'from 1.36 on the kubelet starts with a certificate alone, and serves nobody',
    'tlsCertFile: a.crt',
    '?no-effect',
    '1.36',
  ],
  ['unless it asks for one itself', 'tlsCertFile: a.crt\nserverTLSBootstrap: true', '', '1.37'],
  ['two servers want two ports', 'readOnlyPort: 10250', '?fails-at-start'],
  ['a port that is none is no other’s', 'port: "10250"', 'wrong-type'],
  ['one server does with one', 'readOnlyPort: 10250\nenableServer: false', ''],
]);
