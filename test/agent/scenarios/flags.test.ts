import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

describe('a kubelet whose health endpoint is where its command line says', () => {
  it('is found there, and no good config is taken back', async () => {
    const { node } = await settledNode({ flags: ['--healthz-port=10348'] });
    assert.equal(node.kubelet.starts(), 2);
    assert.equal(node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.status, 'True');
    await node.stop();
  });

  it('is found there by the next agent, and while it is down', async () => {
    const { node } = await settledNode({ flags: ['--healthz-port=10348'], fates: { 150: 'dies' } });
    await node.stop();
    node.start();
    const bad = node.assign({ maxPods: 150 });
    await node.until('taken back', () => node.status().error?.config === bad && node.status().phase === 'Idle');
    assert.equal(node.status().error?.reason, 'CrashLoop');
    const good = node.assign({ maxPods: 120 });
    await node.until('promoted', isIdleOn(node, good));
    await node.stop();
  });
});
