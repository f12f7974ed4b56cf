import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { NODE, payloadOf, STATE } from '../../support/agent/whole-node.ts';
import { names, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';
import { A } from '../../support/agent/states.ts';

describe('what can be wrong around a node', () => {
  it('a config source that is missing is waited for, and taken when it comes', async () => {
    const { node, good } = await settledNode();
    const name = node.assign({ maxPods: 150 });
    node.kube.remove('configmaps', name);
    await node.until('told', () => node.status().error?.reason === 'ConfigMapNotFound');
    assert.deepEqual(names(node.status()), [good, good, good]);
    assert.equal(node.status().phase, 'Idle');
    await node.pass(600_000);
    const gets = node.kube.calls.filter((call) => call === `get configmaps/${name}`).length;
    assert.ok(gets < 15, `${gets} tries in ten minutes`);
    node.kube.put('configmaps', {
      metadata: { name, namespace: 'kubelet-gitops' },
      data: { kubelet: payloadOf({ maxPods: 150 }) },
    });
    await node.until('promoted', isIdleOn(node, name));
  });

  it('a config source with other content is refused, but not held against the right one', async () => {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 });
    node.kube.put('configmaps', {
      metadata: { name, namespace: 'kubelet-gitops' },
      data: { kubelet: payloadOf({ maxPods: 9999 }) },
    });
    await node.until('told', () => node.status().error?.reason === 'PayloadMismatch');
    assert.equal(node.status().rejected, undefined);
    node.kube.put('configmaps', {
      metadata: { name, namespace: 'kubelet-gitops' },
      data: { kubelet: payloadOf({ maxPods: 150 }) },
    });
    await node.until('promoted', isIdleOn(node, name));
  });

  it('a full disk leaves the node as it is, and the assignment is taken when there is room', async () => {
    const { node, good } = await settledNode();
    node.disk.failAfter(0);
    const name = node.assign({ maxPods: 150 });
    await node.until(
      'told',
      () =>
        node.status().error !== undefined ||
        node.status().conditions?.some(({ type, status }) => type === 'CheckpointsIntact' && status === 'False') ===
          true,
    );
    await node.pass(300_000);
    assert.equal(node.maxPods(), 100);
    assert.equal(node.kubelet.starts(), 2);
    assert.equal(node.agent().state().lastKnownGood?.source.name, good);
    node.disk.failAfter(null);
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().conditions?.find(({ type }) => type === 'CheckpointsIntact')?.status, 'True');
  });

  it('the lost checkpoint of the running config is fetched again without a restart', async () => {
    const { node, good } = await settledNode();
    await node.disk.remove(`${STATE}/checkpoints`);
    await node.pass(180_000);
    assert.equal(node.disk.tree()[`${STATE}/checkpoints/uid-${good}/7/kubelet`], payloadOf({ maxPods: 100 }));
    assert.equal(node.kubelet.starts(), 2);
  });

  it('a state directory that is lost altogether costs no restart and no config', async () => {
    const { node, good } = await settledNode();
    await node.stop();
    await node.disk.remove(`${STATE}/meta`);
    await node.disk.remove(`${STATE}/checkpoints`);
    node.start();
    await node.until('good again', isIdleOn(node, good));
    assert.equal(node.maxPods(), 100);
    assert.equal(node.kubelet.starts(), 2);
  });

  it('a KubeletNode that is deleted orders nothing', async () => {
    const { node } = await settledNode();
    node.kube.remove('kubeletnodes', NODE);
    await node.pass(600_000);
    assert.equal(node.kubelet.starts(), 2);
    assert.equal(node.maxPods(), 100);
  });

  it('files that somebody else changed are reported as drift, with what to look at', async () => {
    const { node } = await settledNode();
    node.disk.plant(`${DROP_INS}/99-kubelet-gitops.conf`, 'theirs');
    await node.until('told', () => node.status().phase === 'Drifted');
    assert.match(
      node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.message ?? '',
      /^\/etc\/kubernetes\/kubelet\.conf\.d\/99-kubelet-gitops\.conf on the node is not what was installed$/,
    );
    assert.equal(node.kubelet.starts(), 2);
  });

  it('an assignment that cannot be read changes nothing and is named', async () => {
    const { node } = await settledNode();
    node.kube.assign(NODE, { configSource: { ...A.source, uid: '../../etc' } });
    await node.until('told', () => node.status().error?.reason === 'InvalidAssignment');
    assert.match(node.status().error?.message ?? '', /spec\.configSource\.uid/);
    assert.equal(node.kubelet.starts(), 2);
  });
});
