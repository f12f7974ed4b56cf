import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkOnHost } from '#agent/preflight/preflight.ts';
import { NO_FACTS } from '../../../support/agent/no-facts.ts';
import { candidate, found, checkRows, type Fields } from '../support/on-host.ts';

describe('preflight of drop-ins of others', () => {
  checkRows([
    [
      'a drop-in of somebody else, by the kubelet’s flag',
      { maxPods: 90 },
      { dropIns: [{ path: '/etc/k/50-them.conf', fields: { maxPods: 33 } }] },
      ['error drop-in-shadows maxPods'],
    ],
    [
      'a drop-in of somebody else that says the same, or something else',
      { maxPods: 90 },
      { dropIns: [{ path: '/etc/k/50-them.conf', fields: { maxPods: 90, podPidsLimit: 5 } }] },
      [],
    ],
  ]);

  it('names the file that wins, the last of those that set the field', () => {
    const dropIns = ['10-a', '50-b', '60-c'].map((name, index) => ({
      path: `/etc/k/${name}.conf`,
      fields: index === 2 ? { podPidsLimit: 5 } : { maxPods: 33 },
    }));
    const [finding] = checkOnHost(candidate({ maxPods: 90 }), { ...NO_FACTS, dropIns });
    assert.equal(finding?.message, '/etc/k/50-b.conf wins: the kubelet would run maxPods=33 instead of 90');
  });

  it('says which fields another drop-in would win over', () => {
    const parts = { asDropIn: true, configDirectory: '/etc/kubernetes/kubelet.conf.d' };
    const assigned = { maxPods: 250, nodeStatusUpdateFrequency: '60s', evictionHard: { 'memory.available': '1Gi' } };
    const shadowed = (over: Fields) => found(assigned, {}, 34, { ...parts, fromFiles: { ...assigned, ...over } });
    assert.deepEqual(shadowed({ podPidsLimit: 5 }), []);
    assert.deepEqual(shadowed({ nodeStatusUpdateFrequency: '1m' }), []);
    assert.deepEqual(shadowed({ maxPods: 110 }), ['error drop-in-shadows maxPods']);
    const eviction = { 'memory.available': '100Mi', 'nodefs.available': '5%' };
    assert.deepEqual(shadowed({ evictionHard: eviction }), ['error drop-in-shadows evictionHard']);
  });
});
