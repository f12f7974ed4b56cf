import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL } from '#shared/contract/api/group.ts';
import { CONFIG_MAPS, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { failedNode, nodeView, poolInCluster, settledNode, settledOn, validPool } from '../../support/fleet.ts';
import { aCluster, type TestCluster } from '../support/cluster.ts';

const old = validPool('general', 114);
const next = validPool('general', 120, {}, { maxOpenFiles: 20 });
const reference = { name: old.configName, sha256: old.sha256, apply: 'overlay' } as const;
const back = (name: string, status: object = {}): KubeletNode => {
  const node = failedNode(nodeView(name, 'general'), next);
  return { ...node, status: { ...node.status, active: reference, lastKnownGood: reference, ...status } };
};

/** An API server gives the rest itself. */
const asNew = <T extends KubeObject>(object: T): T => ({ ...object, metadata: { name: object.metadata.name } });

/** A pool that wants `pool`, one node that took it back, and one that runs what was before. */
function fill(
  { sandbox }: TestCluster,
  pool: ValidPool,
  status: KubeletPoolStatus,
  nodes: readonly KubeletNode[],
): void {
  const { store } = sandbox.server;
  store.seed(KUBELET_POOLS, asNew(poolInCluster(pool, status)));
  for (const node of nodes) store.seed(KUBELET_NODES, asNew(node));
  for (const { name, configName, payload } of [old, next]) {
    store.seed(CONFIG_MAPS, {
      metadata: {
        name: configName,
        namespace: 'kubelet-gitops',
        labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [POOL_LABEL]: name },
      },
      immutable: true,
      data: { kubelet: payload },
    });
  }
}
const halted = (cluster: TestCluster): void =>
  fill(cluster, next, settledOn(old), [back('worker-1'), settledNode(nodeView('worker-2', 'general'), old)]);

describe('kubelet-gitops diff', () => {
  it('shows of a pool what it settled on and what it wants, and what its nodes run', async () => {
    await using cluster = await aCluster();
    halted(cluster);
    const { code, out } = await cluster.cli('diff', 'general');
    assert.equal(code, 1);
    assert.equal(out.split('\n')[0], `pool general: ${old.configName} → ${next.configName}`);
    assert.match(out, /^FIELD +SETTLED +WANTED$/m);
    assert.match(out, /^maxOpenFiles +not set +20$/m);
    assert.match(out, /^maxPods +114 +120$/m);
    assert.match(out, new RegExp(`^2 nodes run ${old.configName}: worker-1, worker-2$`, 'm'));
  });

  it('ends with 0 where nothing differs', async () => {
    await using cluster = await aCluster();
    fill(cluster, old, settledOn(old), [settledNode(nodeView('worker-2', 'general'), old)]);
    for (const name of ['general', 'worker-2']) {
      const { code, out } = await cluster.cli('diff', name);
      assert.equal(code, 0, out);
      assert.match(out, /no field differs/);
    }
  });

  it('shows of a node what it runs by its report, where the kubelet cannot be asked', async () => {
    await using cluster = await aCluster();
    halted(cluster);
    const { code, out } = await cluster.cli('diff', 'worker-1');
    assert.equal(code, 1);
    assert.match(out, /^FIELD +SETTLED +RUNS +WANTED$/m);
    assert.match(out, /^maxPods +114 +114 +120$/m);
    assert.match(
      out,
      new RegExp(`^what runs: ${old.configName}, by its agent's report; the kubelet was not asked: `, 'm'),
    );
  });

  it('gives the same to programs', async () => {
    await using cluster = await aCluster();
    halted(cluster);
    const { code, out } = await cluster.cli('diff', 'node/worker-1', '-o', 'json');
    const { pool, node, comparisons } = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual([code, pool, node], [1, 'general', 'worker-1']);
    assert.deepEqual(comparisons, [
      {
        class: '',
        settled: old.configName,
        wanted: next.configName,
        fields: [
          { field: 'maxOpenFiles', settled: null, wanted: '20', runs: null },
          { field: 'maxPods', settled: '114', wanted: '120', runs: '114' },
        ],
      },
    ]);
  });

  it('compares a pool that never settled with the nodes’ own configs', async () => {
    await using cluster = await aCluster();
    fill(cluster, next, {}, []);
    assert.match((await cluster.cli('diff', 'general')).out, /^pool general: local → general-/);
  });

  it('says what is wrong with a name, and which ConfigMap is missing', async () => {
    await using cluster = await aCluster();
    halted(cluster);
    const rows = [
      [['diff'], /needs a pool or a node/],
      [['diff', 'generla'], /no pool or node generla \(did you mean general\?\)/],
      [['diff', 'pool/worker-1'], /no pool worker-1/],
      [['diff', 'general', '-n', 'elsewhere'], /no ConfigMap of the namespace holds .*--namespace/],
    ] as const;
    for (const [words, message] of rows) {
      const { code, err } = await cluster.cli(...words);
      assert.equal(code, 2, words.join(' '));
      assert.match(err, message);
    }
    cluster.sandbox.server.store.seed(KUBELET_NODES, { metadata: { name: 'general' } });
    assert.match((await cluster.cli('diff', 'general')).err, /say pool\/general or node\/general/);
  });
});
