import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { createWholeNode, LOCAL_FILE, STATE } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn } from '../../support/agent/whole-node-stories.ts';

describe('a config that a drop-in of somebody else wins over', () => {
  it('is taken back with the name of the file', async () => {
    const theirDropIns = [{ path: '/etc/k/50-them.conf', fields: { maxPods: 110 } }];
    const node = createWholeNode({ fates: { 150: 'shadowed' }, theirDropIns, dropIns: false });
    const name = node.assign({ maxPods: 150 });
    const isBlamed = (): boolean => node.status().error?.reason === 'ConfigContradicted';
    await node.until('taken back', () => isBlamed() && hasFallenBack(node, name)());
    assert.match(node.status().error?.message ?? '', /maxPods=110 instead of 150 \(\/etc\/k\/50-them\.conf sets it\)/);
  });
});

describe('a checkpoint that is lost in mid-trial while the API server is away', () => {
  for (const port of [10_248, 10_348]) {
    it(`accuses no kubelet whose health is asked for on port ${port}`, async () => {
      const node = createWholeNode({ guard: true });
      await node.stop();
      node.disk.plant(CONFIG_FILE, `${LOCAL_FILE}healthzPort: ${port}\n`);
      node.kubelet.restartByHand();
      node.start();
      const name = node.assign({ maxPods: 150 });
      await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 20);
      node.kube.setAway(true);
      // An agent that lives has it still.
      await node.stop();
      for (const path of Object.keys(node.disk.tree())) {
        if (path.startsWith(`${STATE}/checkpoints/uid-${name}`) && path.endsWith('/kubelet'))
          node.disk.plant(path, 'x');
      }
      node.start();
      await node.pass(60_000);
      assert.equal(node.agent().state().doing.phase, 'trial');
      assert.match(
        node
          .agent()
          .view()
          .status?.conditions.find(({ type }) => type === 'CheckpointsIntact')?.reason ?? '',
        /Damaged/,
      );
      node.kube.setAway(false);
      await node.until('promoted', isIdleOn(node, name));
      assert.equal(node.status().rejected, undefined);
    });
  }
});
