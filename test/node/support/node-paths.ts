/** Where the kubelet's --config is, as kubeadm has it. */
export const LOCAL_CONFIG_FILE = '/var/lib/kubelet/config.yaml';
/** Without it the container runtime has no network for pods, and the Node is not Ready. */
export const CNI_FILE = '/etc/cni/net.d/10-pods.conflist';
/** The kubelet's --config-dir, on nodes that have one. */
export const DROP_IN_DIRECTORY = '/etc/kubernetes/kubelet.conf.d';
/** More flags of the kubelet, as kubeadm has them. */
export const KUBELET_FLAGS_FILE = '/etc/default/kubelet';
export const STATE_DIRECTORY = '/var/lib/kubelet-gitops';
export const UNIT_DIRECTORY = '/etc/systemd/system/kubelet.service.d';
export const KUBELET_UNIT = 'kubelet.service';
export const AGENT_UNIT = 'kubelet-gitops-agent.service';
/** While it exists, nobody starts the agent: neither systemd that restarts what was killed, nor a boot. */
export const AGENT_IS_LOST = '/run/agent-is-lost';
/** While `order` exists, every start of the kubelet runs it with a shell and then waits; `hasNoConfig` says that one does. Gone at a boot. */
export const HOLD = { order: '/run/kubelet-waits', isHeld: '/run/kubelet-is-held' } as const;
export const DIRECTORIES_UNIT = 'kubelet-gitops-directories.service';

/** Where the node finds what is mounted into it, read only. */
export const MOUNTS = {
  kubelet: '/opt/kubernetes',
  runtime: '/opt/container-runtime',
  cniPlugins: '/opt/cni',
  node: '/opt/node',
  agent: '/opt/kubelet-gitops',
} as const;

/** Where the node has its credentials: the kubelet's client certificate, and what a pod of the agent finds mounted. */
export const CREDENTIALS = { kubelet: '/etc/kubernetes', agent: '/etc/kubelet-gitops' } as const;

export interface NodePorts {
  /** Of the kubelet's secure port on all addresses. */
  readonly kubelet: number;
  /** Of its plain /healthz on 127.0.0.1. */
  readonly healthz: number;
}
