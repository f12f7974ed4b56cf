import type { KubeObject } from '#shared/contract/api/object.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';

/** As many as a kubelet reports (nodeStatusMaxImages): they are most of a Node's bytes. */
const IMAGES = Array.from({ length: 50 }, (_, index) => {
  const digest = (index + 1).toString(16).padStart(2, '0').repeat(32);
  const repository = `registry.example.com/platform/components/service-${index}`;
  return {
    names: [`${repository}@sha256:${digest}`, `${repository}:v1.${index}.0-20260101`],
    sizeBytes: 30_000_000 + index,
  };
});

const CAPACITY = {
  cpu: '16',
  'ephemeral-storage': '103079200Ki',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '64386716Ki',
  pods: '110',
};

/** The pool that a node of this number is in. */
const poolOf = (index: number, pools: number): string => `pool-${String(index % pools).padStart(2, '0')}`;
export const nodeName = (index: number): string =>
  `ip-10-${index >> 16}-${(index >> 8) & 255}-${index & 255}.eu-central-1.example.internal`;

export interface NodeObject extends KubeObject {
  readonly spec: object;
  readonly status: object;
}

/** A Node as one of a cloud provider looks, about 15 kB of JSON. */
export function nodeObject(index: number, pools: number): NodeObject {
  const name = nodeName(index);
  const zone = `eu-central-1${'abc'.charAt(index % 3)}`;
  const created = Date.parse('2026-01-01T00:00:00Z') + index * 1000;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      creationTimestamp: toTimestamp(created),
      labels: labelsOf(name, zone, poolOf(index, pools)),
      annotations: {
        'alpha.kubernetes.io/provided-node-ip': `10.0.${(index >> 8) & 255}.${index & 255}`,
        'csi.volume.kubernetes.io/nodeid': `{"ebs.csi.aws.com":"i-${index.toString(16).padStart(17, '0')}"}`,
        'node.alpha.kubernetes.io/ttl': '300',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: {
      podCIDR: `10.${index & 255}.0.0/24`,
      providerID: `aws:///${zone}/i-${index.toString(16).padStart(17, '0')}`,
    },
    status: {
      capacity: CAPACITY,
      allocatable: CAPACITY,
      addresses: [
        { type: 'InternalIP', address: `10.0.${(index >> 8) & 255}.${index & 255}` },
        { type: 'Hostname', address: name },
      ],
      conditions: conditionsAt(toTimestamp(created)),
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      images: IMAGES,
      nodeInfo: {
        architecture: 'amd64',
        bootID: `0c6ad54e-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
        containerRuntimeVersion: 'containerd://2.1.4',
        kernelVersion: '6.12.40',
        kubeProxyVersion: '',
        kubeletVersion: 'v1.34.2',
        machineID: index.toString(16).padStart(32, '0'),
        operatingSystem: 'linux',
        osImage: 'Example Linux 2026.11',
        systemUUID: `ec2c0000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
      },
    },
  };
}

/** What a kubelet writes again and again although nothing changed. */
export function conditionsAt(at: string): readonly Readonly<Record<string, string>>[] {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: at,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  return [
    condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}

function labelsOf(name: string, zone: string, pool: string): Readonly<Record<string, string>> {
  return {
    pool,
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': 'm7i.4xlarge',
    'beta.kubernetes.io/os': 'linux',
    'failure-domain.beta.kubernetes.io/region': 'eu-central-1',
    'failure-domain.beta.kubernetes.io/zone': zone,
    'k8s.io/cloud-provider-aws': '0123456789abcdef0123456789abcdef',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'node-role.kubernetes.io/worker': '',
    'node.kubernetes.io/instance-type': 'm7i.4xlarge',
    'topology.ebs.csi.aws.com/zone': zone,
    'topology.k8s.aws/zone-id': `euc1-az${'abc'.indexOf(zone.slice(-1)) + 1}`,
    'topology.kubernetes.io/region': 'eu-central-1',
    'topology.kubernetes.io/zone': zone,
  };
}
