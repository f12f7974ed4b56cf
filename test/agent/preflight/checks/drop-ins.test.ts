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

  it('refuses any config beside a file that ends the kubelet at its next start, from 1.29 on', () => {
    const dropIns = [
      { path: '/etc/k/50-them.conf', fields: { podPidsLimit: 5 }, fault: 'podPidsLimit is there twice' },
    ];
    for (const [minor, codes] of [
      [28, []],
      [29, ['error drop-in-broken kind']],
      [37, ['error drop-in-broken kind']],
    ] as const) {
      assert.deepEqual(found({ podPidsLimit: 5 }, { dropIns }, minor), codes);
    }
  });

  it('judges by the rules of the kubelet: 1.28 resets what a drop-in does not name, 1.30 takes a zero for zero', () => {
    for (const [minor, fields, codes] of [
      [28, { podPidsLimit: 5 }, ['error drop-in-shadows maxPods']],
      [30, { podPidsLimit: 5 }, []],
      [30, { maxPods: 0 }, ['error drop-in-shadows maxPods']],
      [30, { maxPods: null }, []],
      [37, { maxpods: 33 }, ['error drop-in-shadows maxPods']],
    ] as const) {
      const dropIns = [{ path: '/etc/k/50-them.conf', fields }];
      assert.deepEqual(found({ maxPods: 90 }, { dropIns }, minor), codes, `${minor} ${JSON.stringify(fields)}`);
    }
  });

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
