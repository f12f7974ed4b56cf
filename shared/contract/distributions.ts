/** Where a distribution's nodes have what an agent reads and writes. Paths are the host's. */
export interface Distribution {
  /** What people call it. */
  readonly title: string;
  /** The systemd unit whose main process is the kubelet, or runs it. */
  readonly unit: string;
  /** The same on servers (nodes with the control plane or etcd) where its restart restarts those as well. */
  readonly serverUnit?: string;
  /** Labels of which every server has one; absent where they are the usual roles. */
  readonly serverLabels?: readonly string[];
  /** The default of a directory that people move; the paths below that begin with it move along. */
  readonly dataDirectory?: string;
  /** The kubelet's `--config`; absent where it has none. */
  readonly configFile?: string;
  /** The kubelet's `--config-dir`; absent where it has none. */
  readonly configDirectory?: string;
  /** The kubelet's `--root-dir` where it is not `/var/lib/kubelet`. */
  readonly rootDirectory?: string;
  /** What the kubelet serves its API with, where neither its files nor its command line tell. */
  readonly servingCertificate?: string;
  /** Where the kubelet writes its log, where that is not the journal. */
  readonly logFile?: string;
}

const KUBELET_SERVICE = 'kubelet.service';

/** By the word that the chart's `distribution` and the components in `deploy/components` have for it. */
export const DISTRIBUTIONS = {
  kubeadm: { title: 'kubeadm', unit: KUBELET_SERVICE, configFile: '/var/lib/kubelet/config.yaml' },
  k3s: {
    title: 'k3s',
    unit: 'k3s-agent.service',
    serverUnit: 'k3s.service',
    dataDirectory: '/var/lib/rancher/k3s',
    configDirectory: '/var/lib/rancher/k3s/agent/etc/kubelet.conf.d',
    servingCertificate: '/var/lib/rancher/k3s/agent/serving-kubelet.crt',
  },
  rke2: {
    title: 'RKE2',
    unit: 'rke2-agent.service',
    serverUnit: 'rke2-server.service',
    dataDirectory: '/var/lib/rancher/rke2',
    configDirectory: '/var/lib/rancher/rke2/agent/etc/kubelet.conf.d',
    servingCertificate: '/var/lib/rancher/rke2/agent/serving-kubelet.crt',
    logFile: '/var/lib/rancher/rke2/agent/logs/kubelet.log',
  },
  eks: {
    title: 'EKS, Amazon Linux 2023',
    unit: KUBELET_SERVICE,
    configFile: '/etc/kubernetes/kubelet/config.json',
    configDirectory: '/etc/kubernetes/kubelet/config.json.d',
  },
  gke: {
    title: 'GKE, Container-Optimized OS',
    unit: KUBELET_SERVICE,
    configFile: '/home/kubernetes/kubelet-config.yaml',
  },
  aks: { title: 'AKS', unit: KUBELET_SERVICE, configFile: '/etc/default/kubeletconfig.json' },
  kubespray: { title: 'Kubespray', unit: KUBELET_SERVICE, configFile: '/etc/kubernetes/kubelet-config.yaml' },
  kops: { title: 'kOps', unit: KUBELET_SERVICE, configFile: '/var/lib/kubelet/kubelet.conf' },
  gardener: { title: 'Gardener', unit: KUBELET_SERVICE, configFile: '/var/lib/kubelet/config/kubelet' },
  microk8s: {
    title: 'MicroK8s',
    unit: 'snap.microk8s.daemon-kubelite.service',
    serverUnit: 'snap.microk8s.daemon-kubelite.service',
    serverLabels: ['node.kubernetes.io/microk8s-controlplane'],
    // Its own kubelet has neither: the directory is what people add to its arguments. Below "common", which no refresh moves.
    configDirectory: '/var/snap/microk8s/common/etc/kubelet.conf.d',
    rootDirectory: '/var/snap/microk8s/common/var/lib/kubelet',
    servingCertificate: '/var/snap/microk8s/current/certs/kubelet.crt',
  },
  k0s: {
    title: 'k0s',
    unit: 'k0sworker.service',
    serverUnit: 'k0scontroller.service',
    dataDirectory: '/var/lib/k0s',
    // k0s rewrites the file at each start, and only a drop-in stays. People add the directory to its arguments.
    configFile: '/run/k0s/kubelet/config.yaml',
    configDirectory: '/var/lib/k0s/kubelet.conf.d',
    rootDirectory: '/var/lib/k0s/kubelet',
  },
} as const satisfies Readonly<Record<string, Distribution>>;

export type DistributionName = keyof typeof DISTRIBUTIONS;
