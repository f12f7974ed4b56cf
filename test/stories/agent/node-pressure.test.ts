import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';
import { NODE, type WholeNode } from '../../support/agent/whole-node.ts';

/** The Node as its kubelet reports it. */
function report(node: WholeNode, ...pressures: readonly string[]): void {
  const conditions = ['Ready', ...pressures].map((type) => ({ type, status: 'True' }));
  node.kube.put('nodes', {
    metadata: { name: NODE },
    status: { nodeInfo: { kubeletVersion: 'v1.34.2' }, conditions },
  });
}

const isTried = (node: WholeNode, maxPods: number) => (): boolean =>
  node.status().phase === 'Trial' && node.maxPods() === maxPods;

describe('a config with which the kubelet is well, and the machine is not', () => {
  it('is taken back, with what was seen, also by an agent that was started again meanwhile', async () => {
    for (const isRestarted of [false, true]) {
      const { node, good } = await settledNode();
      const bad = node.assign({ maxPods: 150 });
      await node.until('on trial', isTried(node, 150));
      if (isRestarted) await node.stop();
      report(node, 'MemoryPressure');
      if (isRestarted) node.start();
      await node.until('taken back', hasFallenBack(node, bad));
      const { error, active } = node.status();
      assert.equal(error?.reason, 'NodeHarmed');
      assert.match(
        error?.message ?? '',
        /failed its trial: it did harm: its Node is under MemoryPressure, and was not before/,
      );
      assert.equal(active?.name, good);
    }
  });

  it('is promoted where the machine was under that pressure before', async () => {
    const { node } = await settledNode();
    report(node, 'MemoryPressure');
    const name = node.assign({ maxPods: 150 });
    await node.until('promoted', isIdleOn(node, name));
  });

  it('is taken back where its pods run out of memory at the kubelet’s own limit', async () => {
    let count = 4;
    const { node } = await settledNode({ outOfMemory: () => Promise.resolve({ 'kubepods.slice': count }) });
    const bad = node.assign({ maxPods: 150 });
    await node.until('on trial', isTried(node, 150));
    count = 5;
    await node.until('taken back', hasFallenBack(node, bad));
    assert.match(node.status().error?.message ?? '', /out of memory once at the limit of kubepods\.slice/);
  });

  it('is promoted where nobody can count', async () => {
    const { node } = await settledNode({ outOfMemory: () => Promise.reject(new Error('no')) });
    const name = node.assign({ maxPods: 150 });
    await node.until('promoted', isIdleOn(node, name));
  });

  it('is taken back where the kubelet evicts pods that it did not evict before, also after an agent started again', async () => {
    for (const isRestarted of [false, true]) {
      let evicted = 2;
      const { node, good } = await settledNode({
        podHarm: () => Promise.resolve({ 'evicted memory.available': evicted }),
      });
      const bad = node.assign({ maxPods: 150 });
      await node.until('on trial', isTried(node, 150));
      if (isRestarted) await node.stop();
      evicted = 3;
      if (isRestarted) node.start();
      await node.until('taken back', hasFallenBack(node, bad));
      const { error, active } = node.status();
      assert.equal(error?.reason, 'NodeHarmed');
      assert.match(
        error?.message ?? '',
        /evicted 3 pods since its start \(memory\.available\), and 2 in the run before/,
      );
      assert.equal(active?.name, good);
    }
  });

  it('is promoted where the kubelet does not say what it evicted', async () => {
    for (const podHarm of [() => Promise.resolve(null), () => Promise.reject(new Error('no'))]) {
      const { node } = await settledNode({ podHarm });
      const name = node.assign({ maxPods: 150 });
      await node.until('promoted', isIdleOn(node, name));
    }
  });
});
