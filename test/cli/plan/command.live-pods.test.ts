import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { NODES, PODS } from '#shared/kube/kube.ts';
import { run } from '../support/run.ts';
import { aCluster } from '../support/cluster.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { kubeconfigOf } from '../../support/kubeconfig/one-cluster.ts';

const size = { cpu: '4', memory: '4Gi', pods: '110' };
const node = {
  metadata: { name: 'n-1', labels: { pool: 'a' } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.36.2' },
    conditions: [{ type: 'Ready', status: 'True' }],
    capacity: size,
    allocatable: size,
  },
} as KubeObject;
const daemon = (name: string, phase: string): KubeObject =>
  ({
    metadata: {
      name,
      namespace: 'default',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: 'u' }],
    },
    spec: { nodeName: 'n-1', containers: [{ name: 'c', resources: { requests: { memory: '30Mi' } } }] },
    status: { phase },
  }) as KubeObject;

/** A config that leaves 40Mi, and a cluster that says what runs on its only node. */
describe('kubelet-gitops plan, of a cluster', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    await repository.commit('start', {
      'clusters/prod.yaml': 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {}\n',
      'pools/a/pool.yaml': pool('a', 'a'),
      'pools/a/kubelet.yaml': layer('maxPods: 110'),
    });
    const evicts = layer('maxPods: 110', 'evictionHard: {memory.available: 99%}');
    await repository.commit('little', { 'pools/a/kubelet.yaml': evicts });
  });
  after(() => repository.remove());

  async function planned(pods: readonly KubeObject[], ...forbidden: readonly string[]) {
    const anonymous = { user: 'operator', may: ({ resource }: { resource: string }) => !forbidden.includes(resource) };
    await using cluster = await aCluster({ anonymous });
    cluster.sandbox.server.store.seed(NODES, node);
    for (const each of pods) cluster.sandbox.server.store.seed(PODS, each);
    return await cluster.cli('plan', '--repo', repository.directory);
  }

  it('refuses what leaves too little for the pods that its nodes cannot do without', async () => {
    const { out, code } = await planned([daemon('one', 'Running'), daemon('two', 'Pending')]);
    assert.equal(code, 3);
    assert.match(
      out,
      /! n-1: 40Mi memory would be left \(4096Mi - evictionHard 4056Mi\), and its 2 critical and\s+DaemonSet pods request 60Mi/,
    );
  });

  it('counts no pod that has ended', async () => {
    const { out } = await planned([daemon('one', 'Running'), daemon('two', 'Failed'), daemon('three', 'Succeeded')]);
    assert.match(out, /1 node,/);
    assert.doesNotMatch(out, /would be refused/);
  });

  it('says that nobody can tell where it may not list pods, and nothing where it may not list nodes', async () => {
    const { out, err } = await planned([daemon('one', 'Running'), daemon('two', 'Running')], 'pods');
    assert.match(err, /You may not list pods here, so the plan cannot tell whether a config leaves room/);
    assert.match(out, /1 node,/);
    assert.doesNotMatch(out, /would be refused/);
    const blind = await planned([], 'nodes');
    assert.equal(blind.code, 2);
  });

  it('reads the lists of a real API server, in which no object says its kind', async () => {
    const lists: Readonly<Record<string, readonly KubeObject[]>> = {
      '/api/v1/nodes': [node],
      '/api/v1/pods': [daemon('one', 'Running'), daemon('two', 'Running')],
    };
    const server = createServer((request, response) => {
      const items = lists[request.url?.split('?')[0] ?? ''];
      const body = { metadata: { resourceVersion: '1' }, items };
      response.writeHead(items === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(items === undefined ? { kind: 'Status', code: 404 } : body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const kubeconfig = join(repository.directory, '.git', 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigOf({ server: `http://127.0.0.1:${port}` }));
    try {
      const { out } = await run('plan', '--repo', repository.directory, '--kubeconfig', kubeconfig);
      assert.match(out, /! n-1: 40Mi memory would be left/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
