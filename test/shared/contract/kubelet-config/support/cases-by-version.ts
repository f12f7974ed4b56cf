import type { RealVerdict } from './confusion-matrix.ts';

export interface CaseByVersion {
  /** `@` stands for the two type fields. */
  readonly text: string;
  readonly said: Readonly<Record<string, RealVerdict>>;
}

const FIRST = 20;
const LAST = 37;

/** `20 lenient, 21 ok, 30 reject`: what is said from that minor on. */
type Line = readonly [text: string, history: string];

/** Written from the sources of each version. Gates and fields come and go, bounds move, libraries change. */
const LINES: readonly Line[] = [
  ['@', '20 ok'],
  ['@maxPods: 10000000000\n', '20 ok, 23 reject'],
  ['@maxPods: 4294967296\n', '20 reject'],
  // Nobody looks at the policy while the gate is off.
  ['@memoryManagerPolicy: mine\n', '20 lenient, 21 ok, 22 late'],
  ['@memoryManagerPolicy: mine\nfeatureGates: {MemoryManager: false}\n', '20 reject, 21 ok, 32 reject'],
  ['@memoryManagerPolicy: mine\nfeatureGates: {MemoryManager: true}\n', '20 reject, 21 late, 36 reject'],
  // What a kubelet drops, it does not read.
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","shutdownGracePeriodByPodPriority":[{"shutdownGracePeriodSeconds":1e3}]}',
    '20 lenient, 23 reject',
  ],
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","maxParallelImagePulls":5.0,"serializeImagePulls":false}',
    '20 lenient, 27 reject',
  ],
  ['@reservedSystemCPUs: "3-0"\n', '20 ok, 22 reject'],
  ['@reservedSystemCPUs: 1-2-3\n', '20 ok, 22 reject'],
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","clusterDomain":"a\\/b"}',
    '20 lenient, 23 ok',
  ],
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","clusterDomain":"\u0080"}',
    '20 lenient, 23 ok',
  ],
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","clusterDomain"\n:"a"}',
    '20 lenient, 23 ok',
  ],
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","clusterDomain":"\\ud83d\\ude00"}',
    '20 lenient, 23 ok',
  ],
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","maxPods":5,"maxPods":6}',
    '20 lenient',
  ],
  ['{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","maxPods":5.0}', '20 reject'],
  [
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","memoryThrottlingFactor":1.0}',
    '20 lenient, 22 ok',
  ],
  ['@memoryThrottlingFactor: 1.0\n', '20 lenient, 22 ok'],
  ['@memoryThrottlingFactor: 1.1\n', '20 lenient, 22 reject'],
  ['@memoryThrottlingFactor: "0.5"\n', '20 lenient, 22 reject'],
  ['@registerNode: false\n', '20 lenient, 23 ok'],
  ['@registerWithTaints: [{key: a, effect: NoSchedule}]\n', '20 lenient, 23 ok'],
  ['@registerWithTaints: [{key: a, effect: Never}]\n', '20 lenient, 23 reject'],
  ['@registerWithTaints: [{key: a, efect: NoSchedule}]\n', '20 lenient'],
  ['@memoryManagerPolicy: static\n', '20 lenient, 21 ok, 22 late'],
  ['@reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]\n', '20 lenient, 21 ok'],
  ['@reservedMemory: [{numaNode: 0, limits: {memory: 0}}]\n', '20 lenient, 21 reject'],
  ['@reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]\n', '20 lenient, 21 reject'],
  ['@reservedMemory: [{numaNode: zero}]\n', '20 lenient, 21 reject'],
  ['@seccompDefault: true\n', '20 lenient, 22 ok'],
  ['@logging: {verbosity: 2}\n', '20 lenient, 23 ok'],
  ['@logging: {verbosity: -2}\n', '20 lenient, 23 reject'],
  ['@logging: {verbosity: 4294967295}\n', '20 lenient, 23 reject'],
  ['@logging: {flushFrequency: 5000000000}\n', '20 lenient, 23 ok'],
  ['@logging: {flushFrequency: 5s}\n', '20 lenient, 23 reject, 28 ok'],
  ['@logging: {flushFrequency: 5.0}\n', '20 lenient, 23 ok'],
  ['@logging: {flushFrequency: 5.5}\n', '20 lenient, 23 reject'],
  ['@logging: {flushFrequency: -5000000000}\n', '20 lenient, 23 ok, 35 reject'],
  ['@logging: {sanitization: true}\n', '20 ok, 24 lenient'],
  ['@logging: {options: {json: {infoBufferSize: 1Ki}}}\n', '20 lenient, 23 ok, 25 reject'],
  ['@tracing: {samplingRatePerMillion: 1}\n', '20 lenient, 26 reject, 27 ok'],
  ['@tracing: {endpoint: "http://a"}\nfeatureGates: {KubeletTracing: true}\n', '20 reject, 26 reject'],
  ['@tracing: {endpoint: "localhost:4317"}\n', '20 lenient, 26 reject, 27 ok'],
  ['@tracing: {endpoint: "localhost:otlp"}\n', '20 lenient, 26 reject'],
  ['@tracing: {endpoint: "dns:///a b"}\n', '20 lenient, 26 reject, 27 ok'],
  ['@tracing: {endpoint: "a b:1"}\n', '20 lenient, 26 reject'],
  ['@containerRuntimeEndpoint: unix:///run/a.sock\n', '20 lenient, 27 ok'],
  ['@maxParallelImagePulls: 2\n', '20 lenient, 27 ok'],
  ['@maxParallelImagePulls: 2\nserializeImagePulls: true\n', '20 lenient, 27 reject'],
  ['@enableSystemLogQuery: true\n', '20 lenient, 27 reject, 36 ok'],
  ['@imageMaximumGCAge: 24h\n', '20 lenient, 29 reject, 30 ok'],
  ['@imageMinimumGCAge: -1s\n', '20 ok, 36 reject'],
  ['@containerLogMaxWorkers: 0\n', '20 lenient, 30 reject'],
  ['@containerLogMonitorInterval: 2s\n', '20 lenient, 30 reject'],
  ['@containerLogMaxFiles: 1\n', '20 late, 33 reject'],
  ['@podLogsDir: /var/log/pods/\n', '20 lenient, 30 reject'],
  ['@failCgroupV1: true\n', '20 lenient, 31 ok'],
  ['@enforceNodeAllocatable: [pods, pods]\n', '20 ok, 31 reject'],
  ['@enforceNodeAllocatable: [none]\ncgroupsPerQOS: false\n', '20 reject, 31 ok'],
  ['@runOnce: true\n', '20 ok, 32 reject'],
  ['@crashLoopBackOff: {maxContainerRestartPeriod: 10s}\n', '20 lenient, 32 reject, 35 ok'],
  ['@mergeDefaultEvictionSettings: true\n', '20 lenient, 33 ok'],
  ['@userNamespaces: {idsPerPod: 65536}\n', '20 lenient, 33 ok'],
  ['@userNamespaces: {idsPerPod: 65537}\n', '20 lenient, 33 reject'],
  ['@memoryReservationPolicy: TieredReservation\n', '20 lenient, 36 reject, 37 ok'],
  ['@memorySwap: {swapBehavior: UnlimitedSwap}\nfeatureGates: {NodeSwap: true}\n', '20 reject, 22 ok, 30 reject'],
  ['@evictionHard: {containerfs.available: 5%}\n', '20 late, 29 ok'],
  ['@evictionHard: {memory.available: 101%}\n', '20 ok, 21 late'],
  ['@evictionHard: {memory.available: 10001%}\n', '20 late'],
  ['@evictionHard: {memory.available: 0x1p3%}\n', '20 ok'],
  ['@evictionHard: {memory.available: 10%%}\n', '20 ok'],
  ['@containerLogMaxSize: 1Ti\n', '20 ok'],
  ['@containerLogMaxSize: 1Pi\n', '20 late'],
  ['@containerLogMaxSize: 1.0Gi\n', '20 late'],
  ['@featureGates: {Foo: true}\n', '20 reject'],
  ['@featureGates: {PodSecurity: true}\n', '20 reject, 22 ok, 28 reject'],
  ['@featureGates: {CPUManager: false}\n', '20 ok, 26 reject'],
  ['@featureGates: {EphemeralContainers: true}\n', '20 ok, 27 reject'],
  ['@featureGates: {DynamicKubeletConfig: false}\n', '20 ok, 26 reject'],
  ['@featureGates: {SidecarContainers: false}\n', '20 reject, 28 ok, 33 reject'],
  ['@featureGates: {NodeSwap: false}\n', '20 reject, 22 ok, 34 reject'],
  ['@featureGates: {AllAlpha: true}\nseccompDefault: no\n', '20 lenient, 22 ok, 37 reject'],
  ['@featureGates: {GracefulNodeShutdown: false}\n', '20 ok, 35 reject'],
  ['@featureGates: {GracefulNodeShutdown: false, AllBeta: false}\n', '20 ok'],
  ['@featureGates: {DRADeviceTaintRules: true, DRADeviceTaints: false}\n', '20 reject'],
  ['@topologyManagerPolicy: best-effort\nfeatureGates: {TopologyManager: false}\n', '20 reject'],
  ['@topologyManagerPolicyOptions: {prefer-closest-numa-nodes: "true"}\n', '20 lenient, 26 late, 28 ok'],
  ['@topologyManagerPolicyOptions: {}\n', '20 lenient, 26 late, 28 ok'],
  ['@topologyManagerPolicyOptions: null\n', '20 lenient, 26 ok'],
  ['@cpuManagerPolicyOptions: {full-pcpus-only: "true"}\n', '20 lenient, 22 late'],
  // Off, and others are on that rest on it: that is no lock, and ends where they are off as well.
  ['@featureGates: {UserNamespacesSupport: false}\n', '20 reject, 28 ok, 35 reject'],
  ['@featureGates: {UserNamespacesSupport: false, ProcMountType: false}\n', '20 reject, 28 ok, 36 reject'],
  [
    '@crashLoopBackOff: {maxContainerRestartPeriod: 300.0009s}\nfeatureGates: {KubeletCrashLoopBackOffMax: true}\n',
    '20 reject, 32 ok',
  ],
  [
    '@crashLoopBackOff: {maxContainerRestartPeriod: 300.001s}\nfeatureGates: {KubeletCrashLoopBackOffMax: true}\n',
    '20 reject',
  ],
  ['@nosuchField: 1\n', '20 lenient'],
  ['@MaxPods: 1\n', '20 lenient'],
  ['@maxPods: 1\nmaxPods: 2\n', '20 lenient'],
  ['@maxPods: yes\n', '20 reject'],
  ['@maxPods: 010\nfailSwapOn: off\n---\n[\n', '20 ok'],
  ['@syncFrequency: null\n', '20 reject'],
  ['@cpuCFSQuotaPeriod: 100us\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}\n', '20 ok, 26 reject'],
];

export function byVersion(): readonly CaseByVersion[] {
  return LINES.map(([text, history]) => ({ text, said: expand(history) }));
}

function expand(history: string): Readonly<Record<string, RealVerdict>> {
  const spans = history.split(', ').map((span) => span.split(' ') as [string, RealVerdict]);
  const said: Record<string, RealVerdict> = {};
  for (let minor = FIRST; minor <= LAST; minor += 1) {
    const span = spans.findLast(([from]) => Number(from) <= minor);
    if (span !== undefined) said[`1.${minor}`] = span[1];
  }
  return said;
}
