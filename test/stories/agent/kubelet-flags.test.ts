import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

describe('a kubelet whose health endpoint is where its command line says', () => {
  it('is found there, and no good config is taken back', async () => {
    const { node } = await settledNode({ flags: ['--healthz-port=10348'] });
    assert.equal(node.kubelet.starts(), 2);
    assert.equal(node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.status, 'True');
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
  });
});

describe('what the agent says of the command line of the kubelet', () => {
  const rows = [
    [
      ['--config=/etc/k', '--storage_driver_password', 'hunter2', '--containerd=/run/c.sock', '--v=2'],
      ['containerd', 'storage-driver-password'],
    ],
    [['--containerd=/run/d.sock', '--containerd=/run/c.sock'], ['containerd']],
    [['--config=/etc/k', 'containerd'], []],
  ] as const;
  for (const [flags, expected] of rows) {
    it(`is the names of the flags that newer kubelets do not know: ${expected.join(', ') || 'none'}`, async () => {
      const { node } = await settledNode({ flags });
      assert.deepEqual(node.status().kubeletFlags, expected);
      assert.doesNotMatch(JSON.stringify(node.status()), /hunter2|c\.sock/);
    });
  }

  it('is nothing where it cannot be seen', async () => {
    const { node } = await settledNode();
    assert.equal(node.status().kubeletFlags, undefined);
  });
});

describe('what the agent says of the NUMA nodes of its machine', () => {
  it('is how many there are, as soon as they can be seen', async () => {
    let looks = 0;
    const numaNodes = () => {
      looks += 1;
      if (looks === 1) return Promise.reject(new Error('EIO'));
      return Promise.resolve(looks === 2 ? undefined : 2);
    };
    const { node } = await settledNode({ numaNodes });
    await node.until('said', () => node.status().numaNodes === 2);
    assert.equal(looks, 3, 'machines do not change while they run');
  });

  it('is nothing where they cannot be seen', async () => {
    const { node } = await settledNode();
    assert.equal(node.status().numaNodes, undefined);
  });
});
