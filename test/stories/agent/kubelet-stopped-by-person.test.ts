import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWholeNode, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const HOUR_MS = 3_600_000;

const healthOf = (node: WholeNode): string | undefined =>
  node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.message;

describe('a kubelet that a person stops', () => {
  it('stays stopped in mid-trial, and its config is promoted once it is started again', async () => {
    const node = createWholeNode({ guard: true });
    const name = node.assign({ maxPods: 150 });
    await node.until('judged', () => (node.status().trial?.healthySeconds ?? 0) > 0);
    const starts = node.kubelet.starts();
    node.kubelet.stopByHand();
    await node.pass(HOUR_MS);
    assert.equal(node.kubelet.starts(), starts);
    assert.equal(node.status().phase, 'Trial');
    assert.match(healthOf(node) ?? '', /somebody stopped the kubelet/);
    node.kubelet.restartByHand();
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().rejected, undefined);
    assert.equal(node.kubelet.starts(), starts + 1);
  });

  it('stays stopped whatever is assigned, which is tried when it runs again', async () => {
    const { node, good } = await settledNode({ guard: true });
    const starts = node.kubelet.starts();
    node.kubelet.stopByHand();
    const name = node.assign({ maxPods: 170 });
    await node.pass(HOUR_MS);
    assert.equal(node.kubelet.starts(), starts);
    assert.equal(node.status().active?.name, good);
    assert.equal(node.status().error?.reason, 'KubeletStopped');
    node.kubelet.restartByHand();
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().error, undefined);
  });

  it('is not started on the way back to local either, and needs no second restart then', async () => {
    const { node } = await settledNode({ guard: true });
    const starts = node.kubelet.starts();
    node.kubelet.stopByHand();
    node.unassign();
    await node.pass(HOUR_MS);
    assert.equal(node.kubelet.starts(), starts);
    node.kubelet.restartByHand();
    await node.until('local', () => node.status().phase === 'Idle' && node.status().active?.name === 'local');
    assert.equal(node.kubelet.starts(), starts + 1);
    assert.equal(node.maxPods(), 42);
  });
});

describe('a kubelet that does not come up after the agent’s own order', () => {
  it('was not stopped by a person, although its unit looks the same', async () => {
    const { node } = await settledNode({ guard: true });
    node.kubelet.loseDependency();
    node.assign({ maxPods: 170 });
    await node.pass(10 * 60_000);
    assert.equal(node.status().rejected?.[0]?.reason, 'NotHealthy');
    assert.ok(node.kubelet.orders.length > 2, 'nobody tried to start it');
  });
});
