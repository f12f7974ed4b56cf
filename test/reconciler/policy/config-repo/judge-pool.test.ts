import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { brief, CLUSTER, KUBELET, load, POOL, pool, valid } from './support/load.ts';

describe('a pool’s judge', () => {
  const tree = { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}\ncontainerLogMonitorInterval: 20s\n` };

  it('says what the kubelets of its nodes would, with the line of the layer', () => {
    const findings = judgePool(valid(load(tree), 'x'), ['1.28', '1.29', '1.34']);
    assert.deepEqual(brief(findings), ['unknown-field pools/x/kubelet.yaml:4:1']);
    assert.deepEqual(findings[0]?.versions, ['1.28', '1.29']);
  });

  it('has nothing to say without nodes', () => assert.deepEqual(judgePool(valid(load(tree), 'x'), []), []));

  it('does not repeat what the cluster’s versions said', () => {
    const text = `${KUBELET}clusterDNS: [dns]\n`;
    const repo = load({
      'pools/x/pool.yaml': POOL,
      'pools/x/kubelet.yaml': text,
      'clusters/prod.yaml': `${CLUSTER}  kubeletVersions: ["1.34"]\n`,
    });
    const found = pool(repo, 'x');
    assert.ok(found.status === 'valid');
    assert.equal(found.findings.length, 1);
    assert.deepEqual(judgePool(found, ['1.34']), []);
  });
});
