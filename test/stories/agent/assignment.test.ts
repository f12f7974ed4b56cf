import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE, DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { createWholeNode, LOCAL_FILE, NODE, payloadOf } from '../../support/agent/whole-node.ts';
import { names, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';
import { sampleOf } from '../../support/sample.ts';

describe('a node with its agent', () => {
  it('takes an assignment all the way: one restart, a trial, lastKnownGood', async () => {
    const node = createWholeNode();
    const name = node.assign({ maxPods: 100 });
    await node.until('on trial', () => node.status().phase === 'Trial');
    await node.pass(30_000);
    const { trial, active, lastKnownGood, observedGeneration, conditions } = node.status();
    assert.deepEqual([trial?.config, trial?.durationSeconds, trial?.restarts], [name, 60, 0]);
    assert.ok((trial?.healthySeconds ?? 0) > 0);
    assert.deepEqual([active?.name, lastKnownGood?.name, observedGeneration], [name, 'local', 1]);
    assert.equal(conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.reason, 'OnTrial');

    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.maxPods(), 100);
    assert.equal(node.kubelet.starts(), 2);
    const status = node.status();
    assert.deepEqual(names(status), [name, name, name]);
    assert.equal(status.trial, undefined);
    assert.match(status.promotedAt ?? '', /^2026-01-01T00:01/);
    assert.equal(status.conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.status, 'True');
    assert.deepEqual([status.kubeletVersion, status.bootID, status.agentVersion], ['v1.34.2', 'boot-1', 'test']);
  });

  it('then leaves the node, the API server and the disk in peace but for its heartbeat', async () => {
    const { node } = await settledNode();
    const [starts, changes] = [node.kubelet.starts(), node.disk.changes()];
    node.kube.calls.length = 0;
    const before = node.status().heartbeat ?? '';
    await node.pass(3_600_000);
    assert.deepEqual([node.kubelet.starts(), node.disk.changes()], [starts, changes]);
    const patches = node.kube.calls.filter((call) => call.startsWith('patch')).length;
    assert.ok(patches >= 12 && patches <= 15, `${patches} heartbeats in an hour`);
    assert.ok(node.kube.calls.filter((call) => call === `get nodes/${NODE}`).length <= 3);
    assert.ok((node.status().heartbeat ?? '') > before);
  });

  it('never touched by an assignment, does nothing to the node at all', async () => {
    const node = createWholeNode();
    node.kube.assign(NODE, {});
    await node.pass(600_000);
    assert.equal(node.kubelet.starts(), 1);
    assert.deepEqual(names(node.status()), ['local', 'local', 'local']);
    assert.equal(node.disk.tree()[CONFIG_FILE], LOCAL_FILE);
  });

  it('runs in the end whenever it is assigned in the trial of another, which may fail or be over at that very moment', async () => {
    const moments = Array.from({ length: 37 }, (_, index) => 1 + 2 * index);
    const all = [250, 150].flatMap((before) => moments.map((seconds) => ({ before, seconds })));
    for (const { before, seconds } of sampleOf(all, 5)) {
      const { node } = await settledNode({ fates: { 250: 'hangs' } });
      node.assign({ maxPods: before });
      await node.pass(seconds * 1_000);
      const good = node.assign({ maxPods: 120 });
      await node.until('it is good', isIdleOn(node, good));
      const blamed = (node.status().rejected ?? []).some(({ name }) => name === good);
      assert.deepEqual([node.status().error, blamed], [undefined, false], `${before}, after ${seconds} s`);
    }
  });

  it('takes another commit, a ConfigMap made again and a relabelled one without a restart', async () => {
    const { node, good } = await settledNode();
    const payload = payloadOf({ maxPods: 100 });
    node.kube.remove('configmaps', good);
    node.assign({ maxPods: 100 }, { payload });
    await node.pass(120_000);
    assert.equal(node.kubelet.starts(), 2);
    assert.equal(node.status().observedGeneration, 2);
  });

  it('gives the local config back byte for byte when it is unassigned, with one restart', async () => {
    for (const dropIns of [true, false]) {
      const { node } = await settledNode({ dropIns });
      node.unassign();
      await node.until('local', isIdleOn(node, 'local'));
      assert.equal(node.maxPods(), 42);
      assert.equal(node.kubelet.starts(), 3);
      assert.equal(node.disk.tree()[CONFIG_FILE], LOCAL_FILE);
      assert.equal(node.disk.tree()[`${DROP_INS}/99-kubelet-gitops.conf`], undefined);
      assert.equal(node.status().error, undefined);
    }
  });
});
