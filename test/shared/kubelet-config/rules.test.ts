import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';

const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** A rule of the kubelet, the smallest config that breaks it, the version, and what is to be found (`''`: nothing). */
type Row = readonly [rule: string, text: string, minor: string, found: string];

function said(text: string, minor: string): string {
  const { value, findings } = decodeKubeletConfig(Buffer.from(HEADER + text));
  assert.deepEqual(findings, []);
  return validateKubeletConfig(value, { minor })
    .map(({ code, field, severity }) => `${severity === 'warning' ? '?' : ''}${code} ${field}`)
    .join(', ');
}

function rules(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [rule, text, minor, found] of rows) {
      it(`${rule} (${minor}: ${text.replaceAll('\n', '; ')})`, () => assert.equal(said(text, minor), found));
    }
  });
}

rules('numbers', [
  ['a port is below 65536', 'port: 65536', '1.34', 'out-of-range port'],
  ['port 0 means the default', 'port: 0', '1.34', ''],
  ['a health port of 0 switches it off', 'healthzPort: 0', '1.34', ''],
  ['a health port cannot be negative', 'healthzPort: -1', '1.34', 'out-of-range healthzPort'],
  ['pods cannot be a negative number', 'maxPods: -1', '1.34', 'out-of-range maxPods'],
  ['the number of images in the status may be unlimited', 'nodeStatusMaxImages: -1', '1.34', ''],
  ['but not less than that', 'nodeStatusMaxImages: -2', '1.34', 'out-of-range nodeStatusMaxImages'],
  ['the OOM score has two bounds', 'oomScoreAdj: -1001', '1.34', 'out-of-range oomScoreAdj'],
  ['a lease lasts at least a second', 'nodeLeaseDurationSeconds: -1', '1.34', 'out-of-range nodeLeaseDurationSeconds'],
  ['two log files are kept at least', 'containerLogMaxFiles: 1', '1.34', 'out-of-range containerLogMaxFiles'],
  ['a rotation needs a worker', 'containerLogMaxWorkers: 0', '1.34', 'out-of-range containerLogMaxWorkers'],
  ['iptables marks have 32 bits', 'iptablesMasqueradeBit: 32', '1.34', 'out-of-range iptablesMasqueradeBit'],
  ['the throttling factor is above 0', 'memoryThrottlingFactor: 0', '1.34', 'out-of-range memoryThrottlingFactor'],
  ['the throttling factor is at most 1', 'memoryThrottlingFactor: 1', '1.34', ''],
]);

rules('words', [
  ['hairpin modes are three', 'hairpinMode: veth', '1.34', 'unknown-value hairpinMode'],
  ['an empty word means the default', 'hairpinMode: ""', '1.34', ''],
  ['authorization has two modes', 'authorization: {mode: RBAC}', '1.34', 'unknown-value authorization.mode'],
  ['TLS versions are Go names', 'tlsMinVersion: "1.2"', '1.34', 'unknown-value tlsMinVersion'],
  ['cipher suites are Go names', 'tlsCipherSuites: [AES]', '1.34', 'unknown-value tlsCipherSuites[0]'],
  ['log formats are text and json', 'logging: {format: xml}', '1.34', 'unknown-value logging.format'],
  [
    'unlimited swap went with 1.30',
    'memorySwap: {swapBehavior: UnlimitedSwap}\nfeatureGates: {NodeSwap: true}',
    '1.30',
    'unknown-value memorySwap.swapBehavior',
  ],
  [
    'unlimited swap was fine before',
    'memorySwap: {swapBehavior: UnlimitedSwap}\nfeatureGates: {NodeSwap: true}',
    '1.28',
    '',
  ],
  ['an unknown cgroup driver fails at the runtime only', 'cgroupDriver: runc', '1.34', '?unknown-value cgroupDriver'],
]);

rules('images and logs', [
  [
    'the low threshold is below the high one',
    'imageGCLowThresholdPercent: 85',
    '1.34',
    'conflict imageGCLowThresholdPercent',
  ],
  [
    'the default low threshold counts',
    'imageGCHighThresholdPercent: 80',
    '1.34',
    'conflict imageGCHighThresholdPercent',
  ],
  ['a maximum age needs its gate', 'imageMaximumGCAge: 1h', '1.29', 'gate-off imageMaximumGCAge'],
  ['a maximum age is above the minimum', 'imageMaximumGCAge: 1m', '1.34', 'conflict imageMaximumGCAge'],
  [
    'a minimum age may not be negative from 1.36 on',
    'imageMinimumGCAge: -1s',
    '1.36',
    'out-of-range imageMinimumGCAge',
  ],
  ['a minimum age might before', 'imageMinimumGCAge: -1s', '1.35', ''],
  [
    'pulls are parallel or serialized',
    'maxParallelImagePulls: 2\nserializeImagePulls: true',
    '1.34',
    'conflict maxParallelImagePulls',
  ],
  ['parallel pulls unset serializing', 'maxParallelImagePulls: 2', '1.34', ''],
  [
    'an allowlist needs its policy',
    'preloadedImagesVerificationAllowlist: [a.io/b]',
    '1.35',
    'conflict preloadedImagesVerificationAllowlist',
  ],
  [
    'an allowlist has names without tags',
    'imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: ["a.io/b", "a/*", "a.io/b:c", "*", "a.io/*/b", " a.io/b"]',
    '1.35',
    'bad-image-pattern preloadedImagesVerificationAllowlist[2], bad-image-pattern preloadedImagesVerificationAllowlist[3], bad-image-pattern preloadedImagesVerificationAllowlist[4], bad-image-pattern preloadedImagesVerificationAllowlist[5]',
  ],
  ['a log size is a quantity', 'containerLogMaxSize: 10MB', '1.34', 'bad-quantity containerLogMaxSize'],
  ['a log size is whole bytes', 'containerLogMaxSize: 1.5Gi', '1.34', 'out-of-range containerLogMaxSize'],
  [
    'logs are looked at every 3s at most',
    'containerLogMonitorInterval: 1s',
    '1.34',
    'out-of-range containerLogMonitorInterval',
  ],
  ['the log folder is written in its shortest form', 'podLogsDir: /var/log/pods/', '1.34', 'bad-path podLogsDir'],
]);

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
    'systemReservedCgroup: /s\nenforceNodeAllocatable: [system-reserved, system-reserved-compressible]',
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
  ['the static policy wants CPUs kept back', 'cpuManagerPolicy: static', '1.34', '?missing-partner cpuManagerPolicy'],
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
    '?memory-not-equal reservedMemory',
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

rules('the node', [
  [
    'critical pods are within the whole shutdown',
    'shutdownGracePeriodCriticalPods: 10s',
    '1.34',
    'conflict shutdownGracePeriodCriticalPods',
  ],
  ['a shutdown lasts a second', 'shutdownGracePeriod: 500ms', '1.34', 'out-of-range shutdownGracePeriod'],
  ['a graceful shutdown had a gate that was off', 'shutdownGracePeriod: 30s', '1.20', 'gate-off shutdownGracePeriod'],
  [
    'shutdown goes by time or by priority',
    'shutdownGracePeriod: 30s\nshutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]',
    '1.34',
    'conflict shutdownGracePeriodByPodPriority',
  ],
  ['a taint has a key', 'registerWithTaints: [{effect: NoSchedule}]', '1.34', 'bad-taint registerWithTaints[0].key'],
  [
    'a taint has a known effect',
    'registerWithTaints: [{key: a, effect: Never}]',
    '1.34',
    'unknown-value registerWithTaints[0].effect',
  ],
  [
    'a taint has no time',
    'registerWithTaints: [{key: a, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}]',
    '1.34',
    'bad-taint registerWithTaints[0].timeAdded',
  ],
  ['swap needs its gate', 'memorySwap: {swapBehavior: LimitedSwap}', '1.29', 'gate-off memorySwap.swapBehavior'],
  ['another quota period needs its gate', 'cpuCFSQuotaPeriod: 50ms', '1.34', 'gate-off cpuCFSQuotaPeriod'],
  [
    'the quota period has bounds',
    'cpuCFSQuotaPeriod: 10s\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}',
    '1.34',
    'out-of-range cpuCFSQuotaPeriod',
  ],
  [
    'the crash-loop limit needs its gate',
    'crashLoopBackOff: {maxContainerRestartPeriod: 1m}',
    '1.34',
    'gate-off crashLoopBackOff.maxContainerRestartPeriod',
  ],
  [
    'the crash-loop limit has bounds',
    'crashLoopBackOff: {maxContainerRestartPeriod: 1h}',
    '1.35',
    'out-of-range crashLoopBackOff.maxContainerRestartPeriod',
  ],
  [
    'user namespaces have whole ranges',
    'userNamespaces: {idsPerPod: 65537}',
    '1.34',
    'out-of-range userNamespaces.idsPerPod',
  ],
  ['two iptables marks differ', 'iptablesDropBit: 14', '1.27', 'conflict iptablesDropBit'],
  ['nobody looks at them any more', 'iptablesDropBit: 14', '1.28', ''],
  ['pods are synced in positive time', 'syncFrequency: -1s', '1.34', 'out-of-range syncFrequency'],
  ['run-once went with 1.32', 'runOnce: true', '1.32', 'unknown-value runOnce'],
  ['run-once worked before', 'runOnce: true', '1.31', ''],
]);

rules('serving and logging', [
  [
    'a serving certificate from the cluster needs its gate',
    'serverTLSBootstrap: true\nfeatureGates: {RotateKubeletServerCertificate: false}',
    '1.34',
    'gate-off serverTLSBootstrap',
  ],
  [
    'log queries need the log handler',
    'enableSystemLogQuery: true\nenableSystemLogHandler: false\nfeatureGates: {NodeLogQuery: true}',
    '1.34',
    'missing-partner enableSystemLogQuery',
  ],
  [
    'hidden metrics are those of the version before',
    'showHiddenMetricsForVersion: "1.32"',
    '1.34',
    'unknown-value showHiddenMetricsForVersion',
  ],
  ['hidden metrics of the version before are fine', 'showHiddenMetricsForVersion: "1.33"', '1.34', ''],
  ['traces go to a host', 'tracing: {endpoint: "http://host:4317"}', '1.34', 'bad-address tracing.endpoint'],
  ['tracing had a gate', 'tracing: {endpoint: "host:4317"}', '1.25', 'gate-off tracing'],
  ['a bad name server is only logged', 'clusterDNS: [kube-dns]', '1.34', '?bad-address clusterDNS[0]'],
  [
    'patterns are for text logs',
    'logging: {format: json, vmodule: [{filePattern: a, verbosity: 3}]}',
    '1.34',
    'conflict logging.vmodule',
  ],
  [
    'patterns are not empty',
    'logging: {vmodule: [{verbosity: 3}]}',
    '1.34',
    'unknown-value logging.vmodule[0].filePattern',
  ],
  ['a verbosity fits into 31 bits', 'logging: {verbosity: 4294967295}', '1.34', 'out-of-range logging.verbosity'],
  [
    'buffers are alpha',
    'logging: {options: {json: {infoBufferSize: 1Ki}}}',
    '1.34',
    'gate-off logging.options.json.infoBufferSize',
  ],
  [
    'logs were flushed by the nanosecond to 1.27',
    'logging: {flushFrequency: 5s}',
    '1.27',
    'wrong-type logging.flushFrequency',
  ],
  ['a number of nanoseconds works in all versions', 'logging: {flushFrequency: 5000000000}', '1.34', ''],
  [
    'logs are not flushed backwards from 1.35 on',
    'logging: {flushFrequency: -5s}',
    '1.35',
    'out-of-range logging.flushFrequency',
  ],
]);

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
  [
    'and not over the network',
    'containerRuntimeEndpoint: tcp://127.0.0.1:2375',
    '1.34',
    '?fails-at-start containerRuntimeEndpoint',
  ],
]);

rules('one fault is one finding', [
  [
    'a policy of the CPU manager',
    'cpuManagerPolicy: Static\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}',
    '1.34',
    'unknown-value cpuManagerPolicy',
  ],
  [
    'a log format',
    'logging: {format: JSON, vmodule: [{filePattern: a, verbosity: 1}]}',
    '1.34',
    'unknown-value logging.format',
  ],
  [
    'a policy of image pulls',
    'imagePullCredentialsVerificationPolicy: NeverVerifyAllowedImages\npreloadedImagesVerificationAllowlist: [a.io/b]',
    '1.35',
    'unknown-value imagePullCredentialsVerificationPolicy',
  ],
  ['a percentage', 'imageGCHighThresholdPercent: -1', '1.34', 'out-of-range imageGCHighThresholdPercent'],
  ['the other percentage', 'imageGCLowThresholdPercent: 120', '1.34', 'out-of-range imageGCLowThresholdPercent'],
  [
    'a signal with a grace period',
    'evictionSoft: {memory.available: 5%}\nevictionSoftGracePeriod: {memory.avail: 1m}',
    '1.34',
    'unknown-signal evictionSoftGracePeriod["memory.avail"]',
  ],
  ['a signal without', 'evictionSoft: {memory.avail: 5%}', '1.34', 'unknown-signal evictionSoft["memory.avail"]'],
  ['a gate that is text', 'featureGates: {NodeSwap: "true"}', '1.34', 'wrong-type featureGates.NodeSwap'],
]);
