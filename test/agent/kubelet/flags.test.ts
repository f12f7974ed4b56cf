import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFlags, withFlags } from '#agent/kubelet/flags.ts';
import { fieldOfFlag, flagOver } from '#shared/contract/kubelet-config/fields/flags.ts';

describe('the kubelet’s flags', () => {
  it('are read as Go reads them', () => {
    assert.deepEqual(parseFlags(['--a=b=c', '-v', '2', '--flag', '--x', 'y', 'z']), [
      ['a', 'b=c'],
      ['v', '2'],
      ['flag', 'true'],
      ['x', 'y'],
    ]);
  });

  it('win over the config', () => {
    const flags = ['--fail-swap-on=false', '--healthz-port=0', '--client-ca-file=/ca', '--max-pods=many'];
    assert.deepEqual(withFlags({ failSwapOn: true, maxPods: 5 }, flags), {
      failSwapOn: false,
      maxPods: 5,
      healthzPort: 0,
      authentication: { x509: { clientCAFile: '/ca' } },
    });
  });

  it('have the names of their fields, or others', () => {
    const names = {
      'max-pods': 'maxPods',
      'kube-api-qps': 'kubeAPIQPS',
      'cluster-dns': 'clusterDNS',
      v: 'logging.verbosity',
    };
    for (const [flag, field] of Object.entries(names)) assert.equal(fieldOfFlag(flag), field);
    assert.equal(fieldOfFlag('node-ip'), undefined);
    assert.equal(fieldOfFlag('max_pods'), 'maxPods');
    assert.equal(flagOver('evictionHard.memory.available'), '--eviction-hard');
    assert.equal(flagOver('memorySwap.swapBehavior'), undefined);
  });
});
