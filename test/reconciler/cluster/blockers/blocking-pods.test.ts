import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  nodesWithBlockingPods,
  podSelection,
  selectorText,
  trimPod,
} from '#reconciler/cluster/blockers/blocking-pods.ts';
import { PODS } from '#shared/kube/kube.ts';

const pod = (name: string, nodeName?: string) => ({
  metadata: { name, namespace: 'x' },
  spec: { nodeName, containers: [] },
});

describe('pods that must not run', () => {
  it('are in the way of their node, and of none before they have one', () => {
    const nodes = nodesWithBlockingPods([pod('a', 'n1'), pod('b'), pod('c', ''), { metadata: { name: 'd' } }]);
    assert.deepEqual([...nodes.keys()], ['n1']);
    assert.match(nodes.get('n1') ?? '', /^the pod x\/a runs there/);
  });

  it('are asked for by namespace and labels, but for those that have ended', () => {
    const running = { resource: PODS, fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
    assert.deepEqual(podSelection({ selector: {} }), running);
    assert.deepEqual(podSelection({ namespace: 'x', selector: { matchLabels: { app: 'backup' } } }), {
      ...running,
      namespace: 'x',
      labelSelector: 'app=backup',
    });
  });

  it('are looked at for their place alone', () => {
    assert.deepEqual(trimPod(pod('a', 'n1')), { metadata: { name: 'a', namespace: 'x' }, spec: { nodeName: 'n1' } });
    assert.deepEqual(trimPod({ metadata: { name: 'a' } }), { metadata: { name: 'a' }, spec: { nodeName: undefined } });
  });

  it('are chosen as the API’s queries have it', () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'zone', operator: 'NotIn', values: ['c'] },
      { key: 'must', operator: 'Exists' },
      { key: 'done', operator: 'DoesNotExist' },
    ] as const;
    const text = selectorText({ matchLabels: { app: 'backup', run: 'x' }, matchExpressions });
    assert.equal(text, 'app=backup,run=x,tier in (a,b),zone notin (c),must,!done');
    assert.equal(selectorText({}), '');
  });
});
