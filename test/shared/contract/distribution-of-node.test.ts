import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { distributionOf } from '#shared/contract/distribution-of-node.ts';
import { DISTRIBUTIONS } from '#shared/contract/distributions.ts';

type Row = readonly [
  distribution: string | undefined,
  kubeletVersion: string,
  osImage?: string,
  ...labels: readonly string[],
];

const UBUNTU = 'Ubuntu 24.04.3 LTS';
const AL2023 = 'Amazon Linux 2023.9.20260101';
const COS = 'Container-Optimized OS from Google';

const ROWS: readonly Row[] = [
  ['k3s', 'v1.34.2+k3s1'],
  ['k3s', 'v1.34.2+k3s-0a1b2c3d'],
  ['rke2', 'v1.34.2+rke2r1', UBUNTU, 'node-role.kubernetes.io/etcd'],
  ['k0s', 'v1.34.3+k0s'],
  ['k0s', 'v1.23.0-k0s1'],
  ['eks', 'v1.34.4-eks-f69f56f', AL2023, 'eks.amazonaws.com/nodegroup'],
  [undefined, 'v1.34.4-eks-f69f56f', 'Amazon Linux 2'],
  [undefined, 'v1.34.4-eks-f69f56f', 'Bottlerocket OS 1.26.1 (aws-k8s-1.34)'],
  [undefined, 'v1.34.4-eks-f69f56f', UBUNTU],
  [undefined, 'v1.34.4-eks-f69f56f', ''],
  [undefined, 'v1.34.4-eks-f69f56f', AL2023, 'eks.amazonaws.com/compute-type'],
  ['gke', 'v1.34.1-gke.1169000', COS, 'cloud.google.com/gke-nodepool'],
  [undefined, 'v1.34.1-gke.1169000', UBUNTU, 'cloud.google.com/gke-nodepool'],
  ['aks', 'v1.34.1', UBUNTU, 'kubernetes.azure.com/cluster', 'agentpool'],
  ['kops', 'v1.34.1', UBUNTU, 'kops.k8s.io/instancegroup'],
  ['gardener', 'v1.34.1', 'Garden Linux 1877.4', 'worker.gardener.cloud/pool'],
  ['microk8s', 'v1.34.1', UBUNTU, 'microk8s.io/cluster'],
  // kubeadm's, Kubespray's, and many others'.
  [undefined, 'v1.34.1', UBUNTU, 'node-role.kubernetes.io/control-plane'],
  [undefined, ''],
];

describe('the distribution of a node', () => {
  for (const [distribution, kubeletVersion, osImage = UBUNTU, ...keys] of ROWS) {
    it(`is ${distribution ?? 'not known'} for ${kubeletVersion || 'no version'} on ${osImage || 'no system'} (${keys.join()})`, () => {
      const labels = Object.fromEntries(keys.map((key) => [key, 'true']));
      assert.equal(distributionOf({ kubeletVersion, labels, osImage }), distribution);
    });
  }

  it('can be each but those that look alike', () => {
    const seen = new Set(ROWS.map(([distribution]) => distribution));
    const unseen = Object.keys(DISTRIBUTIONS).filter((name) => !seen.has(name));
    assert.deepEqual(unseen, ['kubeadm', 'kubespray']);
  });
});
