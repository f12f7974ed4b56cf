import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWholeNode, NODE, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const isJudged = (node: WholeNode) => () => (node.status().trial?.healthySeconds ?? 0) > 0;

/** What others do while a good config is on trial; how often the kubelet was started then, by them included. */
const DOINGS: readonly (readonly [string, (node: WholeNode) => void, number])[] = [
  ['restart the kubelet once', (node) => node.kubelet.restartByHand(), 3],
  ['reboot the machine', (node) => node.reboot(), 3],
  [
    'delete the KubeletNode and make it again',
    (node) => {
      const spec = node.kube.spec(NODE);
      node.kube.remove('kubeletnodes', NODE);
      node.kube.put('kubeletnodes', { metadata: { name: NODE, uid: 'another' }, spec });
    },
    2,
  ],
  [
    'delete the Node, which comes back with another uid',
    (node) => {
      const [, before] = node.kube.objects().find(([plural]) => plural === 'nodes') ?? [];
      node.kube.remove('nodes', NODE);
      node.kube.put('nodes', { ...before, metadata: { name: NODE, uid: 'another' } });
    },
    2,
  ],
];

describe('a good config on trial is promoted all the same where others', () => {
  for (const [what, happens, starts] of DOINGS) {
    it(what, async () => {
      const node = createWholeNode({ guard: true });
      const name = node.assign({ maxPods: 150 });
      await node.until('judged', isJudged(node));
      happens(node);
      await node.until('promoted', isIdleOn(node, name));
      await node.pass(120_000);
      assert.equal(node.status().rejected, undefined);
      assert.equal(node.kubelet.starts(), starts);
      assert.equal(node.maxPods(), 150);
    });
  }
});

describe('a KubeletNode that is made again', () => {
  it('gets its whole status back, and changes nothing without a spec', async () => {
    const { node, good } = await settledNode({ guard: true });
    const before = node.status();
    node.kube.remove('kubeletnodes', NODE);
    node.kube.put('kubeletnodes', { metadata: { name: NODE, uid: 'another' } });
    await node.until('the status', isIdleOn(node, good));
    const { heartbeat: _, conditions: __, observedGeneration: ___, ...after } = node.status();
    for (const [field, value] of Object.entries(after)) {
      assert.deepEqual(value, before[field as keyof typeof before], field);
    }
    assert.equal(node.kubelet.starts(), 2);
  });
});
