import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NODE } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode, hasFallenBack } from '../../support/agent/whole-node-stories.ts';

describe('a trial', () => {
  it('is called off by a revert, with one restart and no trial for what is known to be good', async () => {
    const { node, good } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    node.assign({ maxPods: 100 });
    await node.until('reverted', isIdleOn(node, good));
    assert.equal(node.kubelet.starts(), 4);
    assert.equal(node.status().rejected, undefined);
  });

  it('is superseded by a newer config', async () => {
    const { node } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    const newer = node.assign({ maxPods: 160 });
    await node.until('promoted', isIdleOn(node, newer));
    assert.equal(node.kubelet.starts(), 4);
  });

  it('goes on where it was after the agent was restarted, and restarts nothing', async () => {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 30);
    await node.stop();
    const starts = node.kubelet.starts();
    const before = node.clock.monotonic();
    node.start();
    await node.until('promoted', isIdleOn(node, name));
    assert.ok(node.clock.monotonic() - before < 45_000, 'the healthy time before counts');
    assert.equal(node.kubelet.starts(), starts);
  });

  it('counts no time in which nobody looked', async () => {
    const { node } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 30);
    await node.stop();
    await node.pass(3_600_000);
    node.start();
    await node.pass(10_000);
    assert.equal(node.status().phase, 'Trial');
  });

  it('is not failed by a reboot of the machine, and goes on after it', async () => {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 }, { trial: { duration: '1m', startTimeout: '30s', maxRestarts: 0 } });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 30);
    await node.stop();
    node.reboot();
    node.start();
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().bootID, 'boot-2');
    assert.equal(node.status().rejected, undefined);
  });

  it('waits for a Node that cannot be seen, and does not fail for it', async () => {
    const { node } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    node.kube.setAway(true);
    await node.pass(600_000);
    assert.equal(node.agent().state().doing.phase, 'trial');
    node.kube.setAway(false);
    await node.until('promoted', () => node.status().phase === 'Idle');
    assert.equal(node.status().error, undefined);
  });

  it('fails when the kubelet is well but its Node is not Ready any more', async () => {
    const { node } = await settledNode();
    const bad = node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    node.kube.put('nodes', {
      metadata: { name: NODE },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    });
    await node.until('on its way back', () => node.maxPods() === 100);
    node.kube.put('nodes', { metadata: { name: NODE }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    await node.until('taken back', hasFallenBack(node, bad));
    assert.equal(node.status().error?.reason, 'NodeNotReady');
    await node.pass(300_000);
    assert.equal(node.status().rejected?.[0]?.reason, 'NodeNotReady');
  });

  it('says so while the kubelet cannot be restarted, and goes on when it can', async () => {
    const { node } = await settledNode();
    node.kubelet.refuseRestarts(true);
    const name = node.assign({ maxPods: 150 });
    await node.until('told', () => node.status().error?.reason === 'RestartFailed');
    assert.match(node.status().error?.message ?? '', /the kubelet cannot be restarted: the bus is away/);
    await node.pass(60_000);
    assert.equal(node.maxPods(), 100);
    node.kubelet.refuseRestarts(false);
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.kubelet.starts(), 3);
  });
});
