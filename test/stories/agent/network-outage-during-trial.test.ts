import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NODE, type WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const setReady = (node: WholeNode, status: 'True' | 'False'): void => {
  const reason = {
    reason: 'KubeletNotReady',
    message: 'container runtime network not ready: cni plugin not initialized',
  };
  node.kube.put('nodes', {
    metadata: { name: NODE },
    status: {
      nodeInfo: { kubeletVersion: 'v1.34.2' },
      conditions: [{ type: 'Ready', status, ...(status === 'False' ? reason : {}) }],
    },
  });
};

describe('a network of pods that fails in mid-trial', () => {
  it('costs the trial, and not the config: it is proven when the network is back', async () => {
    const { node, good } = await settledNode({ guard: true });
    const name = node.assign({ maxPods: 150 });
    await node.until('judged', () => (node.status().trial?.healthySeconds ?? 0) > 5);
    setReady(node, 'False');
    await node.until('taken back', hasFallenBack(node, name));
    assert.ok(isIdleOn(node, good)());
    assert.deepEqual(
      node.status().rejected?.map(({ reason }) => reason),
      ['UnhealthyBefore'],
    );
    assert.match(node.status().error?.message ?? '', /cni plugin not initialized/);
    const starts = node.kubelet.starts();
    await node.pass(1_800_000);
    assert.equal(node.kubelet.starts(), starts, 'nothing is tried while it lasts');
    setReady(node, 'True');
    await node.until('proved', isIdleOn(node, name));
    assert.equal(node.status().rejected, undefined);
    assert.equal(node.status().error, undefined);
  });
});
