import { isMap } from '../../../runtime/maps.ts';
import { parseGoDuration } from '../syntax/go-duration.ts';

/**
 * The kubelet's command line flags for fields of its configuration, by the field's path. A flag wins over the file, and
 * so over everything that a config source says (kubelet 1.20 to 1.37, `AddKubeletConfigFlags`; `--seccomp-default` of
 * `KubeletFlags`). `--feature-gates` wins gate by gate.
 */
export const FLAGS: Readonly<Record<string, string>> = {
  address: 'address',
  allowedUnsafeSysctls: 'allowed-unsafe-sysctls',
  'authentication.anonymous.enabled': 'anonymous-auth',
  'authentication.webhook.cacheTTL': 'authentication-token-webhook-cache-ttl',
  'authentication.webhook.enabled': 'authentication-token-webhook',
  'authentication.x509.clientCAFile': 'client-ca-file',
  'authorization.mode': 'authorization-mode',
  'authorization.webhook.cacheAuthorizedTTL': 'authorization-webhook-cache-authorized-ttl',
  'authorization.webhook.cacheUnauthorizedTTL': 'authorization-webhook-cache-unauthorized-ttl',
  cgroupDriver: 'cgroup-driver',
  cgroupRoot: 'cgroup-root',
  cgroupsPerQOS: 'cgroups-per-qos',
  clusterDNS: 'cluster-dns',
  clusterDomain: 'cluster-domain',
  containerLogMaxFiles: 'container-log-max-files',
  containerLogMaxSize: 'container-log-max-size',
  containerRuntimeEndpoint: 'container-runtime-endpoint',
  contentType: 'kube-api-content-type',
  cpuCFSQuota: 'cpu-cfs-quota',
  cpuCFSQuotaPeriod: 'cpu-cfs-quota-period',
  cpuManagerPolicy: 'cpu-manager-policy',
  cpuManagerPolicyOptions: 'cpu-manager-policy-options',
  cpuManagerReconcilePeriod: 'cpu-manager-reconcile-period',
  enableContentionProfiling: 'contention-profiling',
  enableControllerAttachDetach: 'enable-controller-attach-detach',
  enableDebuggingHandlers: 'enable-debugging-handlers',
  enableServer: 'enable-server',
  enforceNodeAllocatable: 'enforce-node-allocatable',
  eventBurst: 'event-burst',
  eventRecordQPS: 'event-qps',
  evictionHard: 'eviction-hard',
  evictionMaxPodGracePeriod: 'eviction-max-pod-grace-period',
  evictionMinimumReclaim: 'eviction-minimum-reclaim',
  evictionPressureTransitionPeriod: 'eviction-pressure-transition-period',
  evictionSoft: 'eviction-soft',
  evictionSoftGracePeriod: 'eviction-soft-grace-period',
  failCgroupV1: 'fail-cgroupv1',
  failSwapOn: 'fail-swap-on',
  featureGates: 'feature-gates',
  fileCheckFrequency: 'file-check-frequency',
  hairpinMode: 'hairpin-mode',
  healthzBindAddress: 'healthz-bind-address',
  healthzPort: 'healthz-port',
  httpCheckFrequency: 'http-check-frequency',
  imageGCHighThresholdPercent: 'image-gc-high-threshold',
  imageGCLowThresholdPercent: 'image-gc-low-threshold',
  imageMinimumGCAge: 'minimum-image-ttl-duration',
  imageServiceEndpoint: 'image-service-endpoint',
  iptablesDropBit: 'iptables-drop-bit',
  iptablesMasqueradeBit: 'iptables-masquerade-bit',
  kernelMemcgNotification: 'kernel-memcg-notification',
  kubeAPIBurst: 'kube-api-burst',
  kubeAPIQPS: 'kube-api-qps',
  kubeReserved: 'kube-reserved',
  kubeReservedCgroup: 'kube-reserved-cgroup',
  kubeletCgroups: 'kubelet-cgroups',
  localStorageCapacityIsolation: 'local-storage-capacity-isolation',
  'logging.flushFrequency': 'log-flush-frequency',
  'logging.format': 'logging-format',
  'logging.options.json.infoBufferSize': 'log-json-info-buffer-size',
  'logging.options.json.splitStream': 'log-json-split-stream',
  'logging.options.text.infoBufferSize': 'log-text-info-buffer-size',
  'logging.options.text.splitStream': 'log-text-split-stream',
  'logging.sanitization': 'experimental-logging-sanitization',
  'logging.verbosity': 'v',
  'logging.vmodule': 'vmodule',
  makeIPTablesUtilChains: 'make-iptables-util-chains',
  maxOpenFiles: 'max-open-files',
  maxPods: 'max-pods',
  memoryManagerPolicy: 'memory-manager-policy',
  nodeStatusMaxImages: 'node-status-max-images',
  nodeStatusUpdateFrequency: 'node-status-update-frequency',
  oomScoreAdj: 'oom-score-adj',
  podCIDR: 'pod-cidr',
  podPidsLimit: 'pod-max-pids',
  podsPerCore: 'pods-per-core',
  port: 'port',
  protectKernelDefaults: 'protect-kernel-defaults',
  providerID: 'provider-id',
  qosReserved: 'qos-reserved',
  readOnlyPort: 'read-only-port',
  registerNode: 'register-node',
  registerWithTaints: 'register-with-taints',
  registryBurst: 'registry-burst',
  registryPullQPS: 'registry-qps',
  reservedMemory: 'reserved-memory',
  reservedSystemCPUs: 'reserved-cpus',
  resolvConf: 'resolv-conf',
  rotateCertificates: 'rotate-certificates',
  runOnce: 'runonce',
  runtimeRequestTimeout: 'runtime-request-timeout',
  seccompDefault: 'seccomp-default',
  serializeImagePulls: 'serialize-image-pulls',
  serverTLSBootstrap: 'rotate-server-certificates',
  staticPodPath: 'pod-manifest-path',
  staticPodURL: 'manifest-url',
  staticPodURLHeader: 'manifest-url-header',
  streamingConnectionIdleTimeout: 'streaming-connection-idle-timeout',
  syncFrequency: 'sync-frequency',
  systemCgroups: 'system-cgroups',
  systemReserved: 'system-reserved',
  systemReservedCgroup: 'system-reserved-cgroup',
  tlsCertFile: 'tls-cert-file',
  tlsCipherSuites: 'tls-cipher-suites',
  tlsMinVersion: 'tls-min-version',
  tlsPrivateKeyFile: 'tls-private-key-file',
  topologyManagerPolicy: 'topology-manager-policy',
  topologyManagerPolicyOptions: 'topology-manager-policy-options',
  topologyManagerScope: 'topology-manager-scope',
  volumePluginDir: 'volume-plugin-dir',
  volumeStatsAggPeriod: 'volume-stats-agg-period',
};

/** `--experimental-kernel-memcg-notification` is another name for its flag up to 1.24. */
const FIELD_OF: ReadonlyMap<string, string> = new Map([
  ...Object.entries(FLAGS).map(([field, flag]) => [flag, field] as const),
  ['experimental-kernel-memcg-notification', 'kernelMemcgNotification'],
]);

/**
 * The field that a flag (without its dashes) sets; undefined for no field. Underscores are dashes to the kubelet's
 * flags, and nothing else is.
 */
export const fieldOfFlag = (flag: string): string | undefined => FIELD_OF.get(flag.replaceAll('_', '-'));

/** The flag, with its dashes, that wins over a field or over a struct or map that it is part of. */
export function flagOver(field: string): string | undefined {
  for (let end = field.length; end > 0; end = field.lastIndexOf('.', end - 1)) {
    const flag = FLAGS[field.slice(0, end)];
    if (flag !== undefined) return flag.length === 1 ? `-${flag}` : `--${flag}`;
  }
  return undefined;
}

/** The flag's entries are laid over those of the file; every other flag of a map takes the place of the whole map. */
const MERGED = 'featureGates';

/** Whether with a flag's text the kubelet has the value of its field. Of a map that is merged, the keys that both have are compared. */
export function flagSays(field: string, text: string, value: unknown): boolean {
  if (isMap(value)) {
    const pairs = new Map(
      text.split(',').map((pair) => pair.split(/[=<]/, 2).map((part) => part.trim()) as [string, string]),
    );
    return Object.entries(value).every(
      ([key, item]) => (field === MERGED && !pairs.has(key)) || pairs.get(key) === String(item),
    );
  }
  if (Array.isArray(value)) return text === value.map(String).join(',');
  const [one, other] = [parseGoDuration(text), typeof value === 'string' ? parseGoDuration(value) : undefined];
  return text === String(value) || (one !== undefined && one === other);
}
