import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadRepo } from '#reconciler/policy/repo/load-repo.ts';
import type { LoadedPool } from '#reconciler/policy/repo/loaded.ts';

const POOL = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {}\n';
const CLUSTER = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec:\n';
const LAYER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 5\nport: 10251\n';

function load(poolFields: string, clusterFields = ''): LoadedPool | undefined {
  const tree = {
    'clusters/prod.yaml': `${CLUSTER}  maxUnassign: 1\n${clusterFields}`,
    'pools/x/pool.yaml': `${POOL}${poolFields}`,
    'pools/x/kubelet.yaml': LAYER,
  };
  const files = Object.entries(tree).map(
    ([path, text]) => [path, { path, oid: path + text, bytes: Buffer.from(text) }] as const,
  );
  return loadRepo(new Map(files), { cluster: 'prod' }).pools[0];
}

const brief = (pool: LoadedPool | undefined): readonly string[] =>
  (pool?.findings ?? []).map(({ code, file, line, field }) => `${code} ${file}:${line} ${field}`);

describe('the field policy of a repository', () => {
  it('refuses a denied field, at the line of the layer that sets it, and says how to allow it', () => {
    const pool = load('');
    assert.deepEqual([pool?.status, brief(pool)], ['invalid', ['denied-field pools/x/kubelet.yaml:4 port']]);
    assert.match(pool?.findings[0]?.suggestion ?? '', /fields\.allow/);
  });

  it('takes the pool’s or the cluster’s allowance, and hands it on to the nodes', () => {
    for (const pool of [load('  fields: {allow: [port]}\n'), load('', '  fields: {allow: [port]}\n')]) {
      assert.deepEqual(brief(pool), []);
      assert.deepEqual(pool?.status === 'valid' ? pool.spec.allowFields : undefined, ['port']);
    }
  });

  it('says nothing of allowances to nodes where there are none', () => {
    const pool = load('  fields: {deny: [featureGates], allow: [port]}\n', '  fields: {deny: [port]}\n');
    assert.deepEqual(brief(pool), ['denied-field pools/x/kubelet.yaml:4 port']);
    assert.equal(pool?.findings[0]?.suggestion, undefined);
  });

  it('refuses words that are no fields, and a cluster file with one allows nothing', () => {
    assert.deepEqual(brief(load('  fields: {allow: [port, maxPodz]}\n')), [
      'unknown-value pools/x/pool.yaml:5 spec.fields.allow[1]',
    ]);
    assert.deepEqual(brief(load('', '  fields: {allow: [port, prot]}\n')), [
      'denied-field pools/x/kubelet.yaml:4 port',
    ]);
  });
});
