import type { DistributionName } from '#shared/contract/distributions.ts';

type Config = Readonly<Record<string, unknown>>;

/** Nodes of one distribution, as its installer sets them up. */
interface Kind {
  readonly distribution: DistributionName;
  readonly version: string;
  readonly osImage: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly config: Config;
}

const AUTH = {
  anonymous: { enabled: false },
  webhook: { enabled: true, cacheTTL: '2m0s' },
  x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
};

const KINDS: readonly Kind[] = [
  {
    distribution: 'kubeadm',
    version: 'v1.33.4',
    osImage: 'Ubuntu 24.04.1 LTS',
    labels: {},
    config: { authentication: AUTH, rotateCertificates: true, staticPodPath: '/etc/kubernetes/manifests' },
  },
  {
    distribution: 'eks',
    version: 'v1.32.3-eks-473151a',
    osImage: 'Amazon Linux 2023.9.20260101',
    labels: { 'eks.amazonaws.com/nodegroup': 'general' },
    config: {
      authentication: AUTH,
      serverTLSBootstrap: true,
      protectKernelDefaults: true,
      kubeReserved: { cpu: '80m', 'ephemeral-storage': '1Gi', memory: '893Mi' },
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
      maxPods: 58,
    },
  },
  {
    distribution: 'k3s',
    version: 'v1.32.9+k3s1',
    osImage: 'Debian GNU/Linux 12',
    labels: { 'node.kubernetes.io/instance-type': 'k3s' },
    config: {
      authentication: { ...AUTH, x509: { clientCAFile: '/var/lib/rancher/k3s/agent/client-ca.crt' } },
      tlsCertFile: '/var/lib/rancher/k3s/agent/serving-kubelet.crt',
      tlsPrivateKeyFile: '/var/lib/rancher/k3s/agent/serving-kubelet.key',
      // The distribution’s flag wins over it.
      readOnlyPort: 10_255,
    },
  },
  {
    distribution: 'gke',
    version: 'v1.34.1-gke.1829001',
    osImage: 'Container-Optimized OS from Google',
    labels: { 'cloud.google.com/gke-nodepool': 'default-pool' },
    config: {
      authentication: AUTH,
      readOnlyPort: 10_255,
      rotateCertificates: true,
      serverTLSBootstrap: true,
      kubeReserved: { cpu: '80m', memory: '2662Mi' },
      evictionHard: { 'memory.available': '100Mi' },
    },
  },
];

const EACH = 15;

/** Sixty nodes of four distributions: files by name, and the inventory that kubectl would print. */
export function fleetFiles(change: (name: string, config: Config) => Config = (_, config) => config): {
  readonly configs: Readonly<Record<string, string>>;
  readonly inventory: string;
} {
  const nodes = KINDS.flatMap((kind) =>
    Array.from({ length: EACH }, (_, index) => ({ kind, name: `${kind.distribution}-${index}` })),
  );
  return {
    configs: Object.fromEntries(
      nodes.map(({ kind: { config }, name }) => [
        `${name}.json`,
        JSON.stringify({
          apiVersion: 'kubelet.config.k8s.io/v1beta1',
          kind: 'KubeletConfiguration',
          // No two nodes have it alike, which is no difference.
          ...(config['serverTLSBootstrap'] === true ? { providerID: `cloud:///${name}` } : {}),
          ...change(name, config),
        }),
      ]),
    ),
    inventory: JSON.stringify({
      items: nodes.map(({ kind, name }) => ({
        metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...kind.labels } },
        status: {
          nodeInfo: { kubeletVersion: kind.version, osImage: kind.osImage },
          capacity: { cpu: '4', memory: '16384Mi', pods: JSON.stringify(kind.config['maxPods'] ?? 110) },
          allocatable: { cpu: '4', memory: '16284Mi', pods: '110' },
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      })),
    }),
  };
}
