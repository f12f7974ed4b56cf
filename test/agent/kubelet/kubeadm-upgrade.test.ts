import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { LOCAL_FILE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const ANEW = `${LOCAL_FILE}podPidsLimit: 2048\n`;

const upgrade = (node: WholeNode): void => {
  node.disk.plant(CONFIG_FILE, ANEW);
  node.kubelet.restartByHand();
};

async function staysAsItIs(node: WholeNode): Promise<void> {
  const [starts, changes] = [node.kubelet.starts(), node.disk.changes()];
  await node.pass(1_800_000);
  assert.equal(node.kubelet.starts(), starts);
  assert.ok(node.disk.changes() - changes < 10, 'nothing is written again and again');
}

describe('a kubeadm upgrade that writes the kubelet’s config file anew', () => {
  it('makes the new file the local config; what was good is laid over it and tried again, once', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    const starts = node.kubelet.starts();
    upgrade(node);
    await node.until('it is on trial again', () => node.status().phase === 'Trial');
    await node.until('good again', isIdleOn(node, good));
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [100, 2048]);
    assert.equal(node.kubelet.starts(), starts + 2, 'kubeadm’s restart and ours');
    assert.equal(node.disk.tree()[`${STATE}/local/kubelet`], ANEW);
    await staysAsItIs(node);
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
    assert.equal(node.disk.tree()[CONFIG_FILE], ANEW);
    await node.stop();
  });

  it('in mid-trial ends the trial; the node goes back to what was good, over the new file', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    const name = node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 20);
    upgrade(node);
    await node.until('back', hasFallenBack(node, name));
    assert.equal(node.status().error?.reason, 'FilesChanged');
    assert.equal(node.status().active?.name, good);
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [100, 2048]);
    await staysAsItIs(node);
    await node.stop();
  });

  it('changes nothing about a drop-in: the node’s own file is the node’s own', async () => {
    const { node, good } = await settledNode();
    const starts = node.kubelet.starts();
    upgrade(node);
    await node.pass(120_000);
    assert.ok(isIdleOn(node, good)());
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [100, 2048]);
    assert.equal(node.kubelet.starts(), starts + 1);
    assert.equal(node.disk.tree()[CONFIG_FILE], ANEW);
    await node.stop();
  });
});

it('an edit of our config file is put back without a restart, and is nobody’s local config', async () => {
  const { node, good } = await settledNode({ dropIns: false });
  const ours = node.disk.tree()[CONFIG_FILE] ?? '';
  const starts = node.kubelet.starts();
  node.disk.plant(CONFIG_FILE, ours.replace('100', '120'));
  await node.until('put back', () => node.disk.tree()[CONFIG_FILE] === ours);
  await node.pass(120_000);
  assert.ok(isIdleOn(node, good)());
  assert.equal(node.kubelet.starts(), starts);
  assert.equal(node.disk.tree()[`${STATE}/local/kubelet`], LOCAL_FILE);
  await node.stop();
});
