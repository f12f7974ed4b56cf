import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UNIT_DIRECTORY } from '../../support/agent/fake-guard.ts';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { LOCAL_FILE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, names, settledNode } from '../../support/agent/whole-node-stories.ts';

const conditions = (node: WholeNode): Readonly<Record<string, string>> =>
  Object.fromEntries((node.status().conditions ?? []).map(({ type, status }) => [type, status]));

/** What is below the state directory, without the guard's and the lock's. */
const stateOn = (node: WholeNode): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(node.disk.tree()).filter(([path]) => path.startsWith(STATE) && !path.startsWith(`${STATE}/guard`)),
  );

/** A node that has proven a config, and whose agent comes back to another disk than it left. */
async function nodeAfter(meanwhile: (node: WholeNode) => unknown, dropIns = false) {
  const { node, good } = await settledNode({ guard: true, dropIns, isSeen: false });
  await node.stop();
  await meanwhile(node);
  node.start();
  await node.pass(300_000);
  return { node, good };
}

const without = (path: string) => (node: WholeNode) => node.disk.remove(path);

/** As if all this had come with the disk of another machine. */
const ofAnotherNode = (path: string) => (node: WholeNode) => {
  for (const [file, text] of Object.entries(node.disk.tree())) {
    const theirs = text.replace(/("node": ?)"node-1"/, '$1"node-9"');
    if (file.startsWith(path) && theirs !== text) node.disk.plant(file, theirs);
  }
};

describe('a state directory that is removed while the agent lives', () => {
  for (const lost of [
    '',
    '/meta',
    '/meta/last-known-good',
    '/local',
    '/local/record',
    '/local/kubelet',
    '/checkpoints',
  ]) {
    // In a drop-in, nothing of the node's own is in our way.
    for (const dropIns of lost.startsWith('/local') ? [false] : [true, false]) {
      it(`is written again: ${lost === '' ? 'all of it' : lost}, ${dropIns ? 'drop-in' : 'file'}`, async () => {
        const { node, good } = await settledNode({ dropIns });
        const before = stateOn(node);
        await node.disk.remove(`${STATE}${lost}`);
        // Nobody can fetch anything again.
        node.kube.remove('configmaps', good);
        await node.pass(600_000);
        assert.deepEqual(stateOn(node), before);
        assert.equal(conditions(node)['CheckpointsIntact'], 'True');
        node.kill();
        node.start();
        await node.pass(600_000);
        assert.deepEqual([names(node.status()), node.kubelet.starts()], [[good, good, good], 2]);
      });
    }
  }

  it('is written again in mid-trial, and leads back', async () => {
    const { node, good } = await settledNode({ dropIns: false, fates: { 200: 'dies' } });
    const bad = node.assign({ maxPods: 200 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 200);
    await node.disk.remove(STATE);
    node.kube.remove('configmaps', good);
    await node.until('back', hasFallenBack(node, bad));
    assert.deepEqual([names(node.status()), node.maxPods()], [[bad, good, good], 100]);
  });

  for (const lost of [STATE, `${STATE}/guard`, `${STATE}/guard/plan`, UNIT_DIRECTORY]) {
    it(`has the guard of a trial set up again, which then ends without an agent: ${lost}`, async () => {
      const { node } = await settledNode({ guard: true });
      node.assign({ maxPods: 200 });
      await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) > 10);
      await node.disk.remove(lost);
      await node.pass(16_000);
      assert.equal(node.status().phase, 'Trial');
      node.kill();
      await node.pass(3_600_000);
      assert.equal(node.maxPods(), 100);
    });
  }

  it('is said to be lost where it cannot be written again, and nothing new is begun', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    await node.disk.remove(STATE);
    node.disk.failAfter(0);
    node.assign({ maxPods: 150 });
    await node.pass(600_000);
    assert.deepEqual([node.status().error?.reason, node.status().active?.name], ['CheckpointFailed', good]);
    const { CheckpointsIntact, Ready } = conditions(node);
    assert.deepEqual([CheckpointsIntact, Ready, node.kubelet.starts()], ['False', 'False', 2]);
  });
});

function unknown(node: WholeNode): void {
  const { active, lastKnownGood } = node.status();
  assert.deepEqual([active, lastKnownGood], [{ name: 'unknown' }, { name: 'unknown' }]);
  const { KubeletConfigHealthy, CheckpointsIntact, Ready } = conditions(node);
  assert.deepEqual([KubeletConfigHealthy, CheckpointsIntact, Ready], ['Unknown', 'False', 'False']);
}

describe('a state that was lost while no agent lived', () => {
  it('is not local with the node’s own config: a person has to provision that, and then the config waits for its turn', async () => {
    const { node, good } = await nodeAfter(without(STATE));
    unknown(node);
    assert.deepEqual([conditions(node)['Stalled'], node.status().error?.reason], ['True', 'CannotInstall']);
    assert.deepEqual([node.status().rejected, node.status().awaitsTurn], [undefined, undefined]);
    node.disk.plant(CONFIG_FILE, LOCAL_FILE);
    await node.pass(600_000);
    unknown(node);
    assert.deepEqual([node.status().awaitsTurn?.reason, node.status().error], ['StateLost', undefined]);
    assert.equal(node.kubelet.starts(), 2);
    node.grant();
    await node.until('good again', isIdleOn(node, good));
    assert.deepEqual([node.kubelet.starts(), conditions(node)['Ready']], [3, 'True']);
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
  });

  it('stays unknown when its pool lets it go, until the kubelet was started with what a person provisioned', async () => {
    const { node } = await nodeAfter(without(STATE));
    node.unassign();
    await node.pass(3_600_000);
    unknown(node);
    assert.deepEqual([conditions(node)['Stalled'], node.status().error?.reason], ['True', 'CannotInstall']);
    assert.deepEqual([node.maxPods(), node.kubelet.starts()], [100, 2]);
    node.disk.plant(CONFIG_FILE, LOCAL_FILE);
    await node.until('local', isIdleOn(node, 'local'));
    assert.deepEqual([node.maxPods(), node.kubelet.starts(), conditions(node)['Ready']], [42, 3, 'True']);
  });

  it('asks for a turn where the node’s own config is not lost, and says meanwhile that it does not know', async () => {
    const { node, good } = await nodeAfter(without(`${STATE}/meta`));
    unknown(node);
    assert.deepEqual([node.status().awaitsTurn?.reason, conditions(node)['Reconciling']], ['StateLost', 'True']);
    assert.equal(node.kubelet.starts(), 2);
    node.grant();
    await node.until('good again', isIdleOn(node, good));
  });

  it('goes to local as it was told before', async () => {
    const { node } = await nodeAfter((before) => {
      before.unassign();
      return before.disk.remove(`${STATE}/meta`);
    });
    await node.until('local', isIdleOn(node, 'local'));
    assert.deepEqual([node.maxPods(), node.disk.tree()[CONFIG_FILE]], [42, LOCAL_FILE]);
  });
});

describe('the state of another node, on a copied disk', () => {
  it('is not this one’s: neither is its config proven here, nor its local config put back', async () => {
    const { node } = await nodeAfter(ofAnotherNode(STATE));
    unknown(node);
    assert.deepEqual([conditions(node)['Stalled'], node.status().error?.reason], ['True', 'CannotInstall']);
    node.unassign();
    await node.pass(600_000);
    unknown(node);
    assert.deepEqual([node.maxPods(), node.kubelet.starts()], [100, 2]);
  });

  it('leaves a node its own config where that was provisioned', async () => {
    const own = LOCAL_FILE.replace('42', '7');
    const { node, good } = await nodeAfter((before) => {
      ofAnotherNode(STATE)(before);
      before.disk.plant(CONFIG_FILE, own);
    });
    node.grant();
    await node.until('tried here', isIdleOn(node, good));
    node.unassign();
    await node.until('local', isIdleOn(node, 'local'));
    assert.deepEqual([node.maxPods(), node.disk.tree()[CONFIG_FILE]], [7, own]);
  });

  it('is not this one’s in a drop-in either: what is assigned waits for its turn', async () => {
    const { node, good } = await nodeAfter(ofAnotherNode(STATE), true);
    assert.deepEqual([node.status().active, node.status().awaitsTurn?.reason], [{ name: 'unknown' }, 'StateLost']);
    node.grant();
    await node.until('tried here', isIdleOn(node, good));
    assert.equal(node.kubelet.starts(), 3);
  });

  it('may be its local config alone: then what is proven goes on, and there is no way back to that', async () => {
    const { node, good } = await nodeAfter(ofAnotherNode(`${STATE}/local`));
    assert.deepEqual([node.status().lastKnownGood?.name, conditions(node)['CheckpointsIntact']], [good, 'False']);
    node.unassign();
    await node.pass(600_000);
    assert.deepEqual([node.maxPods(), node.kubelet.starts()], [100, 2]);
    assert.deepEqual([conditions(node)['Stalled'], conditions(node)['Ready']], ['True', 'False']);
  });
});
