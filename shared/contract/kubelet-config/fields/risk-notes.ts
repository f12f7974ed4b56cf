/** Why a change of some fields deserves a second look, for plans and reviews. */
export const RISK_NOTES = {
  'server-access': 'decides who reaches the kubelet’s port: clients may lose access, and strangers gain it',
  credentials: 'off, the kubelet’s certificate is no longer renewed and the node drops out when it expires',
  'health-probes': 'whatever probes the kubelet’s health has to follow',
  'api-access': 'a wrong value cuts the kubelet off from the API server',
  'api-traffic': 'changes the load on the API server, times the number of nodes',
  'node-monitor': 'has to fit the controller manager’s grace periods, or healthy nodes are marked lost',
  'registration-only': 'counts only when the node registers for the first time; existing Node objects stay as they are',
  'static-pods': 'changes which static pods run',
  'standalone-only': 'only for kubelets without an API server',
  'cloud-identity': 'it cannot change on a registered node',
  'image-gc': 'images may be deleted or kept in another amount, at once after the restart',
  'registry-traffic': 'changes how hard a node pulls on the registry and on its own disk',
  'image-credentials': 'pods may fail to start with images that are on the node already',
  'loses-logs': 'container logs may be rotated away or no longer be found',
  'runtime-must-match': 'has to agree with the container runtime’s own configuration',
  'cgroup-must-exist': 'the named cgroup has to exist on the node, or the kubelet does not start',
  allocatable: 'changes what is left for pods; with the static CPU manager its state file has to go as well',
  'cpu-count': 'has to name CPUs that the node has',
  'host-must-match': 'the kubelet does not start on a host that is set up differently',
  evictions: 'may evict pods earlier, or too late',
  capacity: 'when lowered, pods above the limit are refused at the restart; the scheduler sees the new capacity',
  'new-pods-only': 'pods that run already keep what they have',
  'restarts-containers': 'the limits of running containers change',
  'kube-proxy': 'has to agree with kube-proxy’s settings',
  stability: 'keeps the node standing under pressure',
  logind: 'systemd-logind’s InhibitDelayMaxSec has to allow it; the kubelet changes that itself where it may',
  'per-gate': 'the cost depends on the gate; some need a drain or a reboot',
} as const;

/** What is to be said instead where a number grows. */
export const RAISED_NOTES: Readonly<Partial<Record<RiskNote, string>>> = {
  capacity: 'the scheduler sends more pods: the node needs addresses, processes and reservations for them',
};

export type RiskNote = keyof typeof RISK_NOTES;
