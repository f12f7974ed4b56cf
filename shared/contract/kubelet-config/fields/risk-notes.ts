/** Why a change deserves a second look, for plans and reviews, and where kubelet 1.37 does it: a file, and a name in it. */
interface RiskNoteText {
  readonly means: string;
  readonly source: readonly [file: string, name: string];
}

const KUBELET = 'pkg/kubelet/kubelet.go';
const SERVER = 'cmd/kubelet/app/server.go';
const NODE_STATUS = 'pkg/kubelet/kubelet_node_status.go';

export const RISK_NOTES = {
  'server-access': {
    means: 'decides who reaches the kubelet’s port: clients may lose access, and strangers gain it',
    source: ['pkg/kubelet/server/server.go', 'ListenAndServeKubeletServer'],
  },
  credentials: {
    means: 'off, the kubelet’s certificate is no longer renewed and the node drops out when it expires',
    source: [SERVER, 'buildKubeletClientConfig'],
  },
  'health-probes': {
    means: 'whatever probes the kubelet’s health has to follow',
    source: [SERVER, 'HealthzPort'],
  },
  'api-access': {
    means: 'a wrong value cuts the kubelet off from the API server',
    source: [SERVER, 'setContentTypeForClient'],
  },
  'api-traffic': {
    means: 'changes the load on the API server, times the number of nodes',
    source: [SERVER, 'kubeClientConfigOverrides'],
  },
  'node-monitor': {
    means: 'has to fit the controller manager’s grace periods, or healthy nodes are marked lost',
    source: [NODE_STATUS, 'syncNodeStatus'],
  },
  'registration-only': {
    means: 'counts only when the node registers for the first time; existing Node objects stay as they are',
    source: [NODE_STATUS, 'initialNode'],
  },
  'static-pods': { means: 'changes which static pods run', source: [KUBELET, 'makePodSourceConfig'] },
  'standalone-only': {
    means: 'only for kubelets without an API server',
    source: [KUBELET, 'updatePodCIDR'],
  },
  'cloud-identity': { means: 'it cannot change on a registered node', source: [NODE_STATUS, 'providerID'] },
  'image-gc': {
    means: 'images may be deleted or kept in another amount, at once after the restart',
    source: ['pkg/kubelet/images/image_gc_manager.go', 'GarbageCollect'],
  },
  'registry-traffic': {
    means: 'changes how hard a node pulls on the registry and on its own disk',
    source: ['pkg/kubelet/images/image_manager.go', 'NewImageManager'],
  },
  'image-credentials': {
    means: 'pods may fail to start with images that are on the node already',
    source: ['pkg/kubelet/images/image_manager.go', 'MustAttemptImagePull'],
  },
  'loses-logs': {
    means: 'container logs may be rotated away or no longer be found',
    source: ['pkg/kubelet/logs/container_log_manager.go', 'rotateLog'],
  },
  'runtime-must-match': {
    means: 'has to agree with the container runtime’s own configuration',
    source: [SERVER, 'getCgroupDriverFromCRI'],
  },
  'cgroup-must-exist': {
    means: 'the named cgroup has to exist on the node, or the kubelet does not start',
    source: ['pkg/kubelet/cm/container_manager_linux.go', 'cgroupManager.Validate'],
  },
  allocatable: {
    means:
      'changes what is left for pods: running pods that no longer fit are refused at the restart, and end; with the static CPU manager its state file has to go as well',
    source: ['pkg/kubelet/lifecycle/predicate.go', 'Admit'],
  },
  'cpu-count': { means: 'has to name CPUs that the node has', source: [SERVER, 'getReservedCPUs'] },
  'host-must-match': {
    means: 'the kubelet does not start on a host that is set up differently',
    source: ['pkg/kubelet/cm/container_manager_linux.go', 'NewContainerManager'],
  },
  evictions: {
    means: 'may evict pods earlier, or too late',
    source: ['pkg/kubelet/eviction/eviction_manager.go', 'synchronize'],
  },
  capacity: {
    means:
      'when lowered, pods above the limit are refused at the restart, and end; the scheduler sees the new capacity',
    source: [KUBELET, 'HandlePodAdditions'],
  },
  'unsafe-sysctls': {
    means: 'running pods that use a sysctl that is taken out are refused at the restart, and end',
    source: ['pkg/kubelet/sysctl/allowlist.go', 'Admit'],
  },
  'ephemeral-storage': {
    means: 'off, running pods that request ephemeral storage are refused at the restart, and end',
    source: [KUBELET, 'supportLocalStorageCapacityIsolation'],
  },
  'user-namespaces': {
    means:
      'the kubelet does not start while a pod has a user namespace of another length, also one of a DaemonSet or a static one',
    source: ['pkg/kubelet/userns/userns_manager.go', 'record'],
  },
  'new-pods-only': {
    means: 'pods that run already keep what they have',
    source: ['pkg/kubelet/cm/pod_container_manager_linux.go', 'EnsureExists'],
  },
  'next-container': {
    means:
      'running containers keep what they have; the next one to start has the new value, in a pod that runs already too',
    source: ['pkg/kubelet/kuberuntime/kuberuntime_container.go', 'startContainer'],
  },
  'kube-proxy': {
    means: 'has to agree with kube-proxy’s settings',
    source: ['pkg/kubelet/kubelet_network_linux.go', 'initNetworkUtil'],
  },
  stability: { means: 'set wrongly, it ends the kubelet when memory or files run out', source: [SERVER, 'RunKubelet'] },
  logind: {
    means: 'systemd-logind’s InhibitDelayMaxSec has to allow it; the kubelet changes that itself where it may',
    source: ['pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go', 'OverrideInhibitDelay'],
  },
  'per-gate': {
    means: 'the cost depends on the gate; some need a drain or a reboot',
    source: ['pkg/features/kube_features.go', 'defaultVersionedKubernetesFeatureGates'],
  },
} as const satisfies Readonly<Record<string, RiskNoteText>>;

/** What is to be said instead where a number grows. */
export const RAISED_NOTES: Readonly<Partial<Record<RiskNote, string>>> = {
  capacity: 'the scheduler sends more pods: the node needs addresses, processes and reservations for them',
};

export type RiskNote = keyof typeof RISK_NOTES;
