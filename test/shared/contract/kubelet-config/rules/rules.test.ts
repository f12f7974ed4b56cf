import { rules } from '../support/rule-table.ts';

rules('numbers', [
  ['a port is below 65536', 'port: 65536', 'out-of-range'],
  ['port 0 means the default', 'port: 0', ''],
  ['a health port of 0 switches it off', 'healthzPort: 0', ''],
  ['a health port cannot be negative', 'healthzPort: -1', 'out-of-range'],
  ['pods cannot be a negative number', 'maxPods: -1', 'out-of-range'],
  ['a burst of events is not negative', 'eventBurst: -1', 'out-of-range'],
  ['nor is their rate', 'eventRecordQPS: -1', 'out-of-range'],
  ['nor a burst of calls', 'kubeAPIBurst: -1', 'out-of-range'],
  ['nor their rate', 'kubeAPIQPS: -1', 'out-of-range'],
  ['nor a burst of pulls', 'registryBurst: -1', 'out-of-range'],
  ['nor their rate', 'registryPullQPS: -1', 'out-of-range'],
  ['nor the number of open files', 'maxOpenFiles: -1', 'out-of-range'],
  ['nor the number of pods for a core', 'podsPerCore: -1', 'out-of-range'],
  ['the read-only port is below 65536', 'readOnlyPort: 70000', 'out-of-range'],
  ['the number of images in the status may be unlimited', 'nodeStatusMaxImages: -1', ''],
  ['but not less than that', 'nodeStatusMaxImages: -2', 'out-of-range'],
  ['the OOM score has two bounds', 'oomScoreAdj: -1001', 'out-of-range'],
  ['a lease lasts at least a second', 'nodeLeaseDurationSeconds: -1', 'out-of-range'],
  ['two log files are kept at least', 'containerLogMaxFiles: 1', 'out-of-range'],
  ['a rotation needs a worker', 'containerLogMaxWorkers: 0', 'out-of-range'],
  ['iptables marks have 32 bits', 'iptablesMasqueradeBit: 32', 'out-of-range'],
  ['the throttling factor is above 0', 'memoryThrottlingFactor: 0', 'out-of-range'],
  ['the throttling factor is at most 1', 'memoryThrottlingFactor: 1', ''],
]);

rules('words', [
  ['hairpin modes are three', 'hairpinMode: veth', 'unknown-value'],
  ['an empty word means the default', 'hairpinMode: ""', ''],
  ['authorization has two modes', 'authorization: {mode: RBAC}', 'unknown-value .mode'],
  ['topology has two scopes', 'topologyManagerScope: node', 'unknown-value'],
  ['TLS versions are Go names', 'tlsMinVersion: "1.2"', 'unknown-value'],
  ['cipher suites are Go names', 'tlsCipherSuites: [AES]', 'unknown-value [0]'],
  ['log formats are text and json', 'logging: {format: xml}', 'unknown-value .format'],
  [
    'unlimited swap went with 1.30',
    'memorySwap: {swapBehavior: UnlimitedSwap}\nfeatureGates: {NodeSwap: true}',
    'unknown-value .swapBehavior',
    '1.30',
  ],
  [
    'unlimited swap was fine before',
    'memorySwap: {swapBehavior: UnlimitedSwap}\nfeatureGates: {NodeSwap: true}',
    '',
    '1.28',
  ],
  ['an unknown cgroup driver fails at the runtime only', 'cgroupDriver: runc', '?unknown-value'],
]);

rules('images and logs', [
  ['the low threshold is below the high one', 'imageGCLowThresholdPercent: 85', 'conflict'],
  ['the default low threshold counts', 'imageGCHighThresholdPercent: 80', 'conflict'],
  ['a maximum age needs its gate', 'imageMaximumGCAge: 1h', 'gate-off', '1.29'],
  ['a maximum age is above the minimum', 'imageMaximumGCAge: 1m', 'conflict'],
  ['a minimum age may not be negative from 1.36 on', 'imageMinimumGCAge: -1s', 'out-of-range', '1.36'],
  ['a minimum age might before', 'imageMinimumGCAge: -1s', '', '1.35'],
  ['pulls are parallel or serialized', 'maxParallelImagePulls: 2\nserializeImagePulls: true', 'conflict'],
  ['parallel pulls unset serializing', 'maxParallelImagePulls: 2', ''],
  ['an allowlist needs its policy', 'preloadedImagesVerificationAllowlist: [a.io/b]', 'conflict', '1.35'],
  [
    'an allowlist has names without tags',
    'preloadedImagesVerificationAllowlist: ["a.io/b", "a/*", "a.io/b:c", "*", "a.io/*/b", " a.io/b"]\nimagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages',
    'bad-image-pattern [2], bad-image-pattern [3], bad-image-pattern [4], bad-image-pattern [5]',
    '1.35',
  ],
  ['a log size is a quantity', 'containerLogMaxSize: 10MB', 'bad-quantity'],
  ['a log size is whole bytes', 'containerLogMaxSize: 1.5Gi', 'out-of-range'],
  ['logs are looked at every 3s at most', 'containerLogMonitorInterval: 1s', 'out-of-range'],
  ['the log folder is written in its shortest form', 'podLogsDir: /var/log/pods/', 'bad-path'],
]);

rules('the node', [
  ['critical pods are within the whole shutdown', 'shutdownGracePeriodCriticalPods: 10s', 'conflict'],
  ['a shutdown lasts a second', 'shutdownGracePeriod: 500ms', 'out-of-range'],
  ['a graceful shutdown had a gate that was off', 'shutdownGracePeriod: 30s', 'gate-off', '1.20'],
  [
    'shutdown goes by time or by priority',
    'shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]\nshutdownGracePeriod: 30s',
    'conflict',
  ],
  ['a taint has a key', 'registerWithTaints: [{effect: NoSchedule}]', 'bad-taint [0].key'],
  ['a taint has a known effect', 'registerWithTaints: [{key: a, effect: Never}]', 'unknown-value [0].effect'],
  [
    'a taint has no time',
    'registerWithTaints: [{key: a, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}]',
    'bad-taint [0].timeAdded',
  ],
  ['swap needs its gate', 'memorySwap: {swapBehavior: LimitedSwap}', 'gate-off .swapBehavior', '1.29'],
  ['another quota period needs its gate', 'cpuCFSQuotaPeriod: 50ms', 'gate-off'],
  [
    'the quota period has bounds',
    'cpuCFSQuotaPeriod: 10s\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}',
    'out-of-range',
  ],
  [
    'the crash-loop limit needs its gate',
    'crashLoopBackOff: {maxContainerRestartPeriod: 1m}',
    'gate-off .maxContainerRestartPeriod',
  ],
  [
    'the crash-loop limit has bounds',
    'crashLoopBackOff: {maxContainerRestartPeriod: 1h}',
    'out-of-range .maxContainerRestartPeriod',
    '1.35',
  ],
  ['user namespaces have whole ranges', 'userNamespaces: {idsPerPod: 65537}', 'out-of-range .idsPerPod'],
  ['two iptables marks differ', 'iptablesDropBit: 14', 'conflict', '1.27'],
  ['nobody looks at them any more', 'iptablesDropBit: 14', '', '1.28'],
  ['pods are synced in positive time', 'syncFrequency: -1s', 'out-of-range'],
  ['run-once went with 1.32', 'runOnce: true', 'unknown-value', '1.32'],
  ['run-once worked before', 'runOnce: true', '', '1.31'],
]);

rules('serving and logging', [
  [
    'a serving certificate from the cluster needs its gate',
    'serverTLSBootstrap: true\nfeatureGates: {RotateKubeletServerCertificate: false}',
    'gate-off',
  ],
  [
    'log queries need the log handler',
    'enableSystemLogQuery: true\nenableSystemLogHandler: false\nfeatureGates: {NodeLogQuery: true}',
    'missing-partner',
  ],
  ['hidden metrics are those of the version before', 'showHiddenMetricsForVersion: "1.32"', 'unknown-value'],
  ['hidden metrics of the version before are fine', 'showHiddenMetricsForVersion: "1.33"', ''],
  ['traces go to a host', 'tracing: {endpoint: "http://host:4317"}', 'bad-address .endpoint'],
  ['tracing had a gate', 'tracing: {endpoint: "host:4317"}', 'gate-off', '1.25'],
  ['a bad name server is only logged', 'clusterDNS: [kube-dns]', '?bad-address [0]'],
  [
    'patterns are for text logs',
    'logging: {format: json, vmodule: [{filePattern: a, verbosity: 3}]}',
    'conflict .vmodule',
  ],
  ['patterns are not empty', 'logging: {vmodule: [{verbosity: 3}]}', 'unknown-value .vmodule[0].filePattern'],
  ['a verbosity fits into 31 bits', 'logging: {verbosity: 4294967295}', 'out-of-range .verbosity'],
  ['buffers are alpha', 'logging: {options: {json: {infoBufferSize: 1Ki}}}', 'gate-off .options.json.infoBufferSize'],
  [
    'logs were flushed by the nanosecond to 1.27',
    'logging: {flushFrequency: 5s}',
    'wrong-type .flushFrequency',
    '1.27',
  ],
  ['a number of nanoseconds works in all versions', 'logging: {flushFrequency: 5000000000}', ''],
  [
    'logs are not flushed backwards from 1.35 on',
    'logging: {flushFrequency: -5s}',
    'out-of-range .flushFrequency',
    '1.35',
  ],
]);

rules('one fault is one finding', [
  [
    'a policy of the CPU manager',
    'cpuManagerPolicy: Static\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}',
    'unknown-value',
  ],
  ['a log format', 'logging: {format: JSON, vmodule: [{filePattern: a, verbosity: 1}]}', 'unknown-value .format'],
  [
    'a policy of image pulls',
    'imagePullCredentialsVerificationPolicy: NeverVerifyAllowedImages\npreloadedImagesVerificationAllowlist: [a.io/b]',
    'unknown-value',
    '1.35',
  ],
  ['a percentage', 'imageGCHighThresholdPercent: -1', 'out-of-range'],
  ['the other percentage', 'imageGCLowThresholdPercent: 120', 'out-of-range'],
  [
    'a signal with a grace period',
    'evictionSoftGracePeriod: {memory.avail: 1m}\nevictionSoft: {memory.available: 5%}',
    'unknown-signal ["memory.avail"]',
  ],
  ['a signal without', 'evictionSoft: {memory.avail: 5%}', 'unknown-signal ["memory.avail"]'],
  ['a gate that is text', 'featureGates: {NodeSwap: "true"}', 'wrong-type .NodeSwap'],
]);
