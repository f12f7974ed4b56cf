import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { LOCAL_FILE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const REWRITTEN = `${LOCAL_FILE}podPidsLimit: 2048\n`;

const upgrade = (node: WholeNode): void => {
  node.disk.plant(CONFIG_FILE, REWRITTEN);
  node.kubelet.restartByHand();
};

async function staysAsItIs(node: WholeNode): Promise<void> {
  const [starts, changes] = [node.kubelet.starts(), node.disk.changes()];
  await node.pass(1_800_000);
  assert.equal(node.kubelet.starts(), starts);
  assert.ok(node.disk.changes() - changes < 10, 'nothing is written again and again');
}

describe('a kubeadm upgrade that writes the kubelet’s config file again', () => {
  it('is undone at once; the new file has its trial when the node has its turn', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    const ours = node.disk.tree()[CONFIG_FILE];
    const starts = node.kubelet.starts();
    upgrade(node);
    await node.until('it asks for a turn', () => node.status().awaitsTurn?.reason === 'NewBase');
    assert.equal(node.disk.tree()[CONFIG_FILE], ours, 'a reboot would start the kubelet with what was proven');
    await staysAsItIs(node);
    assert.equal(node.kubelet.starts(), starts + 1, 'kubeadm’s restart');
    node.grant();
    await node.until('it is on trial', () => node.status().phase === 'Trial');
    assert.equal(node.status().lastKnownGood?.name, good);
    await node.until('good again', isIdleOn(node, good));
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [100, 2048]);
    assert.equal(node.kubelet.starts(), starts + 2, 'and the one of its turn');
    assert.equal(node.disk.tree()[`${STATE}/local/kubelet`], REWRITTEN);
    assert.equal(node.status().awaitsTurn, undefined);
    await staysAsItIs(node);
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
    assert.equal(node.disk.tree()[CONFIG_FILE], REWRITTEN);
  });

  it('in mid-trial begins the trial again, and blames no config', async () => {
    const { node } = await settledNode({ dropIns: false });
    const name = node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 20);
    upgrade(node);
    await node.until('promoted', () => node.status().lastKnownGood?.name === name);
    assert.deepEqual([node.maxPods(), node.status().rejected], [150, undefined]);
    await node.until('it asks for a turn', () => node.status().awaitsTurn?.reason === 'NewBase');
    await staysAsItIs(node);
  });

  it('changes nothing about a drop-in: the node’s own file is the node’s own', async () => {
    const { node, good } = await settledNode();
    const starts = node.kubelet.starts();
    upgrade(node);
    await node.pass(120_000);
    assert.ok(isIdleOn(node, good)());
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [100, 2048]);
    assert.equal(node.kubelet.starts(), starts + 1);
    assert.equal(node.disk.tree()[CONFIG_FILE], REWRITTEN);
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
});
