/**
 * Flags of the kubelet's command line by the first minor that does not know them: a kubelet does not start with one. From
 * the flags that the code of kubelets 1.20 to 1.37 registers (`oracle flags`).
 */
const REMOVED: Readonly<Record<number, string>> = {
  21: 'enable-cadvisor-json-endpoints',
  22: 'chaos-chance experimental-logging-sanitization redirect-container-streaming',
  23: 'experimental-bootstrap-kubeconfig seccomp-profile-root',
  24:
    'cni-bin-dir cni-cache-dir cni-conf-dir docker docker-endpoint docker-env-metadata-whitelist docker-only docker-root docker-tls docker-tls-ca ' +
    'docker-tls-cert docker-tls-key dynamic-config-dir experimental-check-node-capabilities-before-mount experimental-dockershim-root-directory ' +
    'image-pull-progress-deadline network-plugin network-plugin-mtu non-masquerade-cidr really-crash-for-testing',
  25: 'experimental-kernel-memcg-notification',
  26:
    'add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers skip-log-headers ' +
    'stderrthreshold',
  27: 'container-runtime master-service-namespace',
  30: 'azure-container-registry-config',
  31: 'iptables-drop-bit iptables-masquerade-bit keep-terminated-pod-volumes',
  34: 'cloud-config register-schedulable',
  35: 'pod-infra-container-image',
  37:
    'application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader event-storage-age-limit ' +
    'event-storage-event-limit global-housekeeping-interval log-cadvisor-usage machine-id-file storage-driver-buffer-duration storage-driver-db ' +
    'storage-driver-host storage-driver-password storage-driver-secure storage-driver-table storage-driver-user',
};

/** By the flag's name, without its leading dashes: the first minor whose kubelet does not know it. */
export const REMOVED_FLAGS: ReadonlyMap<string, number> = new Map(
  Object.entries(REMOVED).flatMap(([minor, flags]) => flags.split(' ').map((flag) => [flag, Number(minor)] as const)),
);
