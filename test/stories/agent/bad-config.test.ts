import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '#shared/contract/finding.ts';
import { names, isIdleOn, settledNode, hasFallenBack } from '../../support/agent/whole-node-stories.ts';

describe('a config that is bad for the node', () => {
  for (const [fate, reason] of [
    ['dies', 'CrashLoop'],
    ['hangs', 'NotHealthy'],
    ['shadowed', 'ConfigContradicted'],
  ] as const) {
    it(`is taken back when the kubelet ${fate === 'shadowed' ? 'runs something else' : fate}, and not tried again`, async () => {
      const { node, good } = await settledNode({ fates: { 250: fate } });
      const bad = node.assign({ maxPods: 250 });
      await node.until('taken back', hasFallenBack(node, bad));
      const status = node.status();
      assert.deepEqual(names(status), [bad, good, good]);
      assert.equal(status.error?.reason, reason);
      assert.match(status.error?.message ?? '', new RegExp(`${bad} failed its trial: .* goes back to ${good}`));
      assert.deepEqual(
        status.rejected?.map(({ name, reason: why }) => [name, why]),
        [[bad, reason]],
      );
      assert.equal(node.maxPods(), 100);

      const [starts] = [node.kubelet.starts()];
      await node.stop();
      node.start();
      await node.pass(3_600_000);
      assert.equal(node.kubelet.starts(), starts);
      assert.equal(node.maxPods(), 100);
    });
  }

  it('is tried again after another was assigned in between', async () => {
    const fates: Record<number, 'dies' | 'healthy'> = { 250: 'dies' };
    const { node, good } = await settledNode({ fates });
    const bad = node.assign({ maxPods: 250 });
    await node.until('taken back', hasFallenBack(node, bad));
    node.assign({ maxPods: 100 });
    await node.until('the error is gone', () => node.status().error === undefined);
    fates[250] = 'healthy';
    node.assign({ maxPods: 250 });
    await node.until('good after all', isIdleOn(node, bad));
    assert.deepEqual(node.status().rejected, undefined);
    assert.notEqual(bad, good);
  });

  it('never reaches the kubelet when validation refuses it', async () => {
    const { node, good } = await settledNode();
    const bad = node.assign({ maxPods: 'many', imageGCHighThresholdPercent: 400 });
    await node.until('refused', hasFallenBack(node, bad));
    assert.deepEqual(names(node.status()), [bad, good, good]);
    assert.equal(node.status().error?.reason, 'ConfigInvalid');
    assert.match(node.status().error?.message ?? '', /maxPods/);
    assert.equal(node.kubelet.starts(), 2);
  });

  it('never reaches the kubelet when preflight finds the node unfit for it', async () => {
    const { node } = await settledNode({
      preflight: ({ maxPods }) =>
        maxPods === 250 ? [{ code: 'too-many', severity: 'error', message: 'this node has too little memory' }] : [],
    });
    const bad = node.assign({ maxPods: 250 });
    await node.until('refused', hasFallenBack(node, bad));
    assert.equal(node.status().error?.reason, 'PreflightFailed');
    assert.equal(node.kubelet.starts(), 2);
  });

  it('is not held against the config when the container runtime is away for a while', async () => {
    let isAway = true;
    const away: Finding = { code: 'runtime-away', severity: 'error', message: 'there is no socket' };
    const { node } = await settledNode({ preflight: ({ maxPods }) => (maxPods === 250 && isAway ? [away] : []) });
    const name = node.assign({ maxPods: 250 });
    await node.until('word of it', () => node.status().error?.message === 'there is no socket');
    await node.pass(600_000);
    assert.deepEqual([node.status().rejected ?? [], node.kubelet.starts()], [[], 2]);
    const { conditions = [] } = node.status();
    assert.equal(conditions.find(({ type }) => type === 'Stalled')?.status, 'False', 'it needs no person');
    isAway = false;
    await node.until('promoted', () => node.status().lastKnownGood?.name === name);
    assert.equal(node.kubelet.starts(), 3);
  });

  it('goes back to local when what was good is bad by now as well, and says both', async () => {
    const fates: Record<number, 'dies' | 'hangs'> = { 250: 'dies' };
    const { node } = await settledNode({ fates });
    fates[100] = 'hangs';
    const bad = node.assign({ maxPods: 250 });
    await node.until('local', () => node.status().phase === 'Idle' && node.status().active?.name === 'local');
    assert.equal(node.status().error?.reason, 'FallbackFailed');
    assert.match(node.status().error?.message ?? '', /failed its trial.*the last known good config, failed too/);
    assert.deepEqual(names(node.status()), [bad, 'local', 'local']);
    assert.equal(node.maxPods(), 42);
  });

  it('on a node where nothing works is reported as broken, and the node recovers when it can', async () => {
    const fates: Record<number, 'dies' | 'hangs' | 'healthy'> = { 250: 'dies' };
    const { node } = await settledNode({ fates });
    fates[100] = 'hangs';
    fates[42] = 'hangs';
    node.assign({ maxPods: 250 });
    await node.until('broken', () => node.status().phase === 'Broken');
    assert.match(
      node.status().error?.message ?? '',
      /^the kubelet fails with every config, the node's own included.*Look at its log/,
    );
    assert.equal(node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.status, 'False');
    const starts = node.kubelet.starts();
    await node.pass(3_600_000);
    assert.equal(node.kubelet.starts(), starts);
    fates[42] = 'healthy';
    await node.until('well again', () => node.status().phase === 'Idle');
    await node.until(
      'tried again and found bad on a kubelet that was well',
      () => node.status().phase === 'Idle' && node.status().error?.reason === 'CrashLoop',
    );
    assert.equal(node.maxPods(), 42);
  });

  it('is taken back without the API server too, by an agent that never heard it', async () => {
    const { node, good } = await settledNode({ fates: { 250: 'dies' } });
    const bad = node.assign({ maxPods: 250 });
    await node.until('on trial', () => node.status().phase === 'Trial');
    node.kube.setAway(true);
    await node.stop();
    node.start();
    await node.until('taken back', () => node.maxPods() === 100 && node.agent().state().doing.phase === 'idle');
    node.kube.setAway(false);
    await node.until('told', hasFallenBack(node, bad));
    assert.deepEqual(names(node.status()), [bad, good, good]);
  });
});
