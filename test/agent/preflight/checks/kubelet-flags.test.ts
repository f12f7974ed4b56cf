import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG, found, args, checkRows } from '../support/on-host.ts';

describe('preflight of flags over the config', () => {
  checkRows([
    ['another file than ours', {}, { kubeletArgs: ['--config=/etc/kubelet.yaml'] }, ['error config-not-read kind']],
    ['a kubelet that lives on flags', {}, { kubeletArgs: ['--max-pods=5'] }, ['error config-not-read kind']],
    [
      'the same file by a link',
      {},
      { kubeletArgs: ['--config', '/etc/k'], realPaths: new Map([['/etc/k', CONFIG]]) },
      [],
    ],
    ['a flag that says otherwise', { maxPods: 250 }, args('--max-pods=110'), ['error flag-shadows maxPods']],
    [
      'a flag that says the same',
      { maxPods: 250, syncFrequency: '1m' },
      args('--max-pods', '250', '--sync-frequency=1m0s'),
      [],
    ],
    ['a flag of another name', { eventRecordQPS: 5 }, args('--event-qps=0'), ['error flag-shadows eventRecordQPS']],
    [
      'a flag for a key of a map',
      { kubeReserved: { cpu: '1', memory: '1Gi' } },
      args('--kube-reserved=cpu=500m'),
      ['error flag-shadows kubeReserved'],
    ],
    [
      'a flag that takes the place of a map with another key in it',
      { evictionHard: { 'nodefs.available': '15%' } },
      args('--eviction-hard=memory.available<200Mi'),
      ['error flag-shadows evictionHard'],
    ],
    ['a flag that has the keys of a map', { kubeReserved: { cpu: '1' } }, args('--kube-reserved=cpu=1,memory=1Gi'), []],
    [
      'a flag of feature gates, which are merged',
      { featureGates: { NodeSwap: true } },
      args('--feature-gates=GracefulNodeShutdown=true'),
      [],
    ],
    ['a flag for what is not assigned', { maxPods: 5 }, args('--node-ip=10.0.0.1', '--v=4'), []],
  ]);

  it('looks at the drop-in directory where the config goes there', () => {
    const parts = { asDropIn: true, configDirectory: '/etc/kubernetes/kubelet.conf.d' };
    assert.deepEqual(found({}, { kubeletArgs: ['--config=/other'] }, 34, parts), ['error config-not-read kind']);
    assert.deepEqual(found({}, { kubeletArgs: ['--config-dir=/etc/kubernetes/kubelet.conf.d'] }, 34, parts), []);
  });
});
