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
    'a bare name is a host to it, and no path',
    'containerRuntimeEndpoint: a',
    '1.37',
    '?fails-at-start containerRuntimeEndpoint',
  ],
  [
    'a URL of nothing but a host neither',
    'imageServiceEndpoint: unix://run',
    '1.31',
    '?fails-at-start imageServiceEndpoint',
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
  [
    'HTTP/2 has a cipher that it needs',
    'tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]',
    '1.20',
    '?fails-at-start tlsCipherSuites',
  ],
  [
    'or another one',
    'tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]',
    '1.37',
    '',
  ],
  ['no ciphers are all of them', 'tlsCipherSuites: []', '1.37', ''],
  ['TLS 1.3 has its own', 'tlsMinVersion: VersionTLS13\ntlsCipherSuites: [TLS_AES_128_GCM_SHA256]', '1.37', ''],
  ['without a server there is no HTTP/2', 'enableServer: false\ntlsCipherSuites: [TLS_AES_128_GCM_SHA256]', '1.37', ''],
  ['two servers want two ports', 'readOnlyPort: 10250', '1.34', '?fails-at-start readOnlyPort'],
  ['a port that is none is no other’s', 'port: "10250"', '1.34', 'wrong-type port'],
  ['one server does with one', 'readOnlyPort: 10250\nenableServer: false', '1.34', ''],
  ['the health endpoint is a server too', 'healthzPort: 10250', '1.20', '?fails-at-start healthzPort'],
  ['and takes the port of the read-only one', 'healthzPort: 1\nreadOnlyPort: 1', '1.37', '?fails-at-start healthzPort'],
  ['servers on other addresses share a port', 'healthzPort: 10250\naddress: 10.0.0.1', '1.34', ''],
  [
    'the same address is one place',
    'healthzPort: 10250\naddress: 10.0.0.1\nhealthzBindAddress: 10.0.0.1',
    '1.34',
    '?fails-at-start healthzPort',
  ],
  ['a server that is off takes no port', 'healthzPort: 10250\nenableServer: false', '1.34', ''],
  ['nor do two of them with 0', 'healthzPort: 0\nreadOnlyPort: 0', '1.34', ''],
]);

rules('what a node has not enough of', [
  ['65535 pods have their ids', 'maxPods: 65535', '1.37', ''],
  ['more have none', 'maxPods: 65536', '1.37', '?fails-at-start maxPods'],
  ['that was asked with the gate off, too', 'maxPods: 65536', '1.30', '?fails-at-start maxPods'],
  ['and not before 1.30', 'maxPods: 65536', '1.29', ''],
  [
    'nor with the gate off since',
    'maxPods: 65536\nfeatureGates: {UserNamespacesSupport: false, ProcMountType: false}',
    '1.35',
    '',
  ],
  ['the more ids a pod has, the fewer pods', 'userNamespaces: {idsPerPod: 33554432}\nmaxPods: 127', '1.35', ''],
  [
    'one pod more has none',
    'userNamespaces: {idsPerPod: 33554432}\nmaxPods: 128',
    '1.35',
    '?fails-at-start userNamespaces.idsPerPod',
  ],
  ['older ones do not read it there', 'userNamespaces: {idsPerPod: 67108864}', '1.34', ''],
  [
    'the default of maxPods counts',
    'userNamespaces: {idsPerPod: 67108864}',
    '1.37',
    '?fails-at-start userNamespaces.idsPerPod',
  ],
  [
    'none at all are a fault of their own',
    'userNamespaces: {idsPerPod: 0}',
    '1.37',
    'out-of-range userNamespaces.idsPerPod',
  ],
  ['ids are shared out evenly', 'userNamespaces: {idsPerPod: 131072}', '1.37', ''],
  [
    'of three times 65536 there is a rest',
    'userNamespaces: {idsPerPod: 196608}',
    '1.37',
    '?fails-at-start userNamespaces.idsPerPod',
  ],
  ['a kubelet has files open', 'maxOpenFiles: 24', '1.37', '?fails-at-start maxOpenFiles'],
  ['25 were seen to do', 'maxOpenFiles: 25', '1.37', ''],
]);

rules('what cannot be done', [
  ['moving everything to the root', 'systemCgroups: /\ncgroupRoot: /', '1.20', '?fails-at-start systemCgroups'],
  ['moving it elsewhere can', 'systemCgroups: /system\ncgroupRoot: /', '1.37', ''],
  [
    'limiting a cgroup to nothing',
    'enforceNodeAllocatable: [pods, system-reserved, kube-reserved]\nsystemReservedCgroup: /s\nkubeReservedCgroup: /k\nsystemReserved: {}',
    '1.20',
    '?fails-at-start enforceNodeAllocatable[1], ?fails-at-start enforceNodeAllocatable[2]',
  ],
  [
    'limiting its CPUs only neither',
    'enforceNodeAllocatable: [kube-reserved-compressible]\nkubeReservedCgroup: /k\nsystemReserved: {cpu: "1"}',
    '1.37',
    '?fails-at-start enforceNodeAllocatable[0]',
  ],
  [
    'limiting it to something can',
    'enforceNodeAllocatable: [kube-reserved]\nkubeReservedCgroup: /k\nkubeReserved: {cpu: "1"}',
    '1.37',
    '',
  ],
  ['hearing of a runtime before asking', 'runtimeRequestTimeout: -1s', '1.20', '?fails-at-start runtimeRequestTimeout'],
  [
    'hearing of it within a microsecond',
    'runtimeRequestTimeout: 999us',
    '1.37',
    '?fails-at-start runtimeRequestTimeout',
  ],
  ['0 is the default of it', 'runtimeRequestTimeout: 0s', '1.37', ''],
  [
    'looking at files before the last time',
    'staticPodPath: /m\nfileCheckFrequency: -1s',
    '1.37',
    '?fails-at-start fileCheckFrequency',
  ],
  ['without files nobody looks', 'fileCheckFrequency: -1s', '1.37', ''],
]);
