import type { DistributionName } from './distributions.ts';

/** What a Node says of its kubelet and machine. */
export interface NodeTraits {
  /** `status.nodeInfo.kubeletVersion`: `v1.34.2+k3s1`. */
  readonly kubeletVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `status.nodeInfo.osImage`; empty where it is not known. */
  readonly osImage: string;
}

interface Sign {
  readonly name: DistributionName;
  /** Part of the kubelet's version. */
  readonly version?: string;
  /** Key of a label that every node has. */
  readonly label?: string;
  /** How the name of the operating system begins. Others have the kubelet's files elsewhere. */
  readonly os?: string;
}

/**
 * Versions: k0s `embedded-bins/kubernetes/Dockerfile`; the others as nodes report them. Labels: AgentBaker `e2e/node_config.go`, kOps
 * `pkg/apis/kops`, Gardener `v1beta1/constants`, MicroK8s `default-args`.
 */
const SIGNS: readonly Sign[] = [
  { name: 'k3s', version: '+k3s' },
  { name: 'rke2', version: '+rke2' },
  { name: 'k0s', version: '+k0s' },
  // Releases before 1.24.
  { name: 'k0s', version: '-k0s' },
  { name: 'eks', version: '-eks-', os: 'Amazon Linux 2023' },
  { name: 'gke', version: '-gke.', os: 'Container-Optimized OS' },
  { name: 'aks', label: 'kubernetes.azure.com/cluster' },
  { name: 'kops', label: 'kops.k8s.io/instancegroup' },
  { name: 'gardener', label: 'worker.gardener.cloud/pool' },
  { name: 'microk8s', label: 'microk8s.io/cluster' },
];

/** `fargate`, `auto`, `hybrid`: nodes that EKS sets up in another way (its user guide). Other nodes do not have it. */
const COMPUTE_TYPE = 'eks.amazonaws.com/compute-type';

/**
 * The distribution that a Node is of. Pure.
 *
 * @returns undefined where nothing tells: nodes of kubeadm and of Kubespray look alike, and so do those of others
 */
export function distributionOf({ kubeletVersion, labels, osImage }: NodeTraits): DistributionName | undefined {
  if (COMPUTE_TYPE in labels) return undefined;
  const sign = SIGNS.find(
    ({ version, label, os = '' }) =>
      (version === undefined || kubeletVersion.includes(version)) &&
      (label === undefined || label in labels) &&
      osImage.startsWith(os),
  );
  return sign?.name;
}
