import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { aCluster } from '../support/cluster.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';

const node = (name: string, kubeletVersion?: string, kubeletFlags?: readonly string[]): KubeletNode => {
  const status: KubeletNodeStatus = {
    ...(kubeletVersion === undefined ? {} : { kubeletVersion }),
    ...(kubeletFlags === undefined ? {} : { kubeletFlags }),
  };
  return { metadata: { name }, status };
};

describe('kubelet-gitops foresight, of a cluster', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    await repository.write({
      'pools/w/pool.yaml': pool('w', 'w'),
      'pools/w/kubelet.yaml': layer('maxPods: 100', 'failCgroupV1: false'),
    });
  });
  after(() => repository.remove());

  async function foreseen(nodes: readonly KubeletNode[], ...argv: readonly string[]) {
    await using cluster = await aCluster();
    for (const each of nodes) cluster.sandbox.server.store.seed(KUBELET_NODES, each);
    return await cluster.cli('foresight', repository.directory, '--kubelet-version', '1.36', ...argv);
  }
  const flagsIn = (out: string): readonly unknown[] => (JSON.parse(out) as { flags: readonly unknown[] }).flags;

  it('names the flags that keep the next kubelet from starting, and the nodes that have them', async () => {
    const { code, out, err } = await foreseen([
      node('b', 'v1.36.3', ['containerd', 'storage-driver-db']),
      node('a', 'v1.36.3', ['storage-driver-db']),
      node('c', 'v1.36.3', []),
    ]);
    assert.deepEqual([code, err], [1, '']);
    assert.match(
      out,
      /Command lines of kubelets: take these flags off before the upgrade\n {2}--containerd: kubelet 1\.37 does not know it and does not start with it: node b\n {2}--storage-driver-db: kubelet 1\.37 .*: 2 nodes \(a, b\)\n$/,
    );
  });

  it('says the same to programs, the version that comes first before the others', async () => {
    const { out } = await foreseen(
      [node('a', 'v1.33.1', ['boot-id-file', 'cloud-config']), node('b', 'v1.34.4', ['pod-infra-container-image'])],
      '-o',
      'json',
    );
    assert.deepEqual(flagsIn(out), [
      { flag: 'cloud-config', to: '1.34', nodes: ['a'] },
      { flag: 'pod-infra-container-image', to: '1.35', nodes: ['b'] },
      { flag: 'boot-id-file', to: '1.37', nodes: ['a'] },
    ]);
  });

  it('says nothing of a flag that the kubelet of the node already went without, or that nobody knows', async () => {
    const { code, out } = await foreseen([node('a', 'v1.37.2', ['containerd', 'cloud-config', '--evil\n'])]);
    assert.deepEqual([code, out.split('\n').length], [0, 2]);
  });

  it('gives no all-clear for nodes whose agents do not look at the command line', async () => {
    const nodes = [node('old', 'v1.36.3'), node('new', 'v1.36.3', []), node('silent')];
    const { code, err } = await foreseen(nodes);
    assert.deepEqual(
      [code, err],
      [0, '2 nodes (old, silent): the agent does not say which flags its kubelet was started with\n'],
    );
    const { out } = await foreseen(nodes, '-o', 'json');
    assert.deepEqual((JSON.parse(out) as { flagsUnseen: unknown }).flagsUnseen, ['old', 'silent']);
  });

  it('judges a node whose version is not known as an old one', async () => {
    assert.equal((await foreseen([node('a', undefined, ['containerd'])])).code, 1);
  });
});
