import { rules } from '../support/rule-table.ts';

rules('what stops a kubelet only when it comes to it', [
  [
    'sysctls of pods have a namespace',
    'allowedUnsafeSysctls: ["net.*", kernel.sem, "kernel.shm*", net/ipv4/tcp_syncookies]',
    '1.34',
    '',
  ],
  [
    'sysctls of the whole node have none',
    'allowedUnsafeSysctls: [vm.swappiness, "kernel.*"]',
    '1.34',
    '?fails-at-start allowedUnsafeSysctls[0], ?fails-at-start allowedUnsafeSysctls[1]',
  ],
  [
    'a pattern ends with its star',
    'allowedUnsafeSysctls: ["net.*.a"]',
    '1.34',
    '?fails-at-start allowedUnsafeSysctls[0]',
  ],
  [
    'slashes came later',
    'allowedUnsafeSysctls: [net/core/somaxconn]',
    '1.20',
    '?fails-at-start allowedUnsafeSysctls[0]',
  ],
  ['curves are those that Go has', 'tlsCurvePreferences: [29, 23, 4588]', '1.36', ''],
  [
    'curves are not doubled or made up',
    'tlsCurvePreferences: [29, 29, null, 7]',
    '1.36',
    '?fails-at-start tlsCurvePreferences[1], ?fails-at-start tlsCurvePreferences[2], ?fails-at-start tlsCurvePreferences[3]',
  ],
  [
    'runtimes are reached over a socket',
    'containerRuntimeEndpoint: unix:///run/a.sock\nimageServiceEndpoint: /run/b.sock',
    '1.34',
    '',
  ],
  ['a socket may be written as a path', 'containerRuntimeEndpoint: run/a.sock', '1.34', ''],
  [
    'a scheme needs no slashes to be one',
    'containerRuntimeEndpoint: "unix-abstract:x"',
    '1.37',
    '?fails-at-start containerRuntimeEndpoint',
  ],
  [
    'what is not a URL is not a path either',
    'containerRuntimeEndpoint: "50%"\nimageServiceEndpoint: "a b"',
    '1.37',
    '?fails-at-start containerRuntimeEndpoint, ?fails-at-start imageServiceEndpoint',
  ],
  [
    'and not over the network',
    'containerRuntimeEndpoint: tcp://127.0.0.1:2375',
    '1.34',
    '?fails-at-start containerRuntimeEndpoint',
  ],
]);

rules('what the kubelet serves with', [
  ['a certificate has a key', 'tlsCertFile: a.crt\ntlsPrivateKeyFile: a.key', '1.34', ''],
  ['a certificate without a key serves nobody', 'tlsCertFile: a.crt', '1.34', '?fails-at-start tlsCertFile'],
  ['a key without a certificate neither', 'tlsPrivateKeyFile: a.key', '1.34', '?fails-at-start tlsPrivateKeyFile'],
  [
    'from 1.36 on the kubelet starts with a certificate alone, and serves nobody',
    'tlsCertFile: a.crt',
    '1.36',
    '?no-effect tlsCertFile',
  ],
  ['unless it asks for one itself', 'tlsCertFile: a.crt\nserverTLSBootstrap: true', '1.37', ''],
  ['two servers want two ports', 'readOnlyPort: 10250', '1.34', '?fails-at-start readOnlyPort'],
  ['a port that is none is no other’s', 'port: "10250"', '1.34', 'wrong-type port'],
  ['one server does with one', 'readOnlyPort: 10250\nenableServer: false', '1.34', ''],
]);
