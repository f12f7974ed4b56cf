import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { CONFIG_FILE, DROP_INS } from '../support/agent/fake-kubelet.ts';
import { createWholeNode, LOCAL_FILE, NODE, payloadOf, STATE, type WholeNode } from '../support/agent/whole-node.ts';

const names = ({ assigned, active, lastKnownGood }: KubeletNodeStatus): readonly (string | undefined)[] =>
  [assigned, active, lastKnownGood].map((reference) => reference?.name);

const isIdleOn = (node: WholeNode, name: string) => () =>
  node.status().phase === 'Idle' && node.status().active?.name === name && node.status().lastKnownGood?.name === name;

/** A node that has proved a config, and its name. */
async function settledNode(options: Parameters<typeof createWholeNode>[0] = {}) {
  const node = createWholeNode(options);
  const good = node.assign({ maxPods: 100 });
  await node.until('the first config is good', isIdleOn(node, good));
  return { node, good };
}

const hasFallenBack = (node: WholeNode, bad: string) => () =>
  node.status().phase === 'Idle' && node.status().error?.config === bad;

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
    await node.stop();
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
    await node.stop();
  });

  it('never touched by an assignment, does nothing to the node at all', async () => {
    const node = createWholeNode();
    node.kube.assign(NODE, {});
    await node.pass(600_000);
    assert.equal(node.kubelet.starts(), 1);
    assert.deepEqual(names(node.status()), ['local', 'local', 'local']);
    assert.equal(node.disk.tree()[CONFIG_FILE], LOCAL_FILE);
    await node.stop();
  });

  it('takes another commit, a ConfigMap made anew and a relabelled one without a restart', async () => {
    const { node, good } = await settledNode();
    const payload = payloadOf({ maxPods: 100 });
    node.kube.remove('configmaps', good);
    node.assign({ maxPods: 100 }, { payload });
    await node.pass(120_000);
    assert.equal(node.kubelet.starts(), 2);
    assert.equal(node.status().observedGeneration, 2);
    await node.stop();
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
      await node.stop();
    }
  });
});

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
      await node.stop();
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
    await node.stop();
  });

  it('never reaches the kubelet when validation refuses it', async () => {
    const { node, good } = await settledNode();
    const bad = node.assign({ maxPods: 'many', imageGCHighThresholdPercent: 400 });
    await node.until('refused', hasFallenBack(node, bad));
    assert.deepEqual(names(node.status()), [bad, good, good]);
    assert.equal(node.status().error?.reason, 'ConfigInvalid');
    assert.match(node.status().error?.message ?? '', /maxPods/);
    assert.equal(node.kubelet.starts(), 2);
    await node.stop();
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
    await node.stop();
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
    await node.stop();
  });

  it('on a node where nothing works is reported as broken, and the node recovers when it can', async () => {
    const fates: Record<number, 'dies' | 'hangs' | 'healthy'> = { 250: 'dies' };
    const { node } = await settledNode({ fates });
    fates[100] = 'hangs';
    fates[42] = 'hangs';
    node.assign({ maxPods: 250 });
    await node.until('broken', () => node.status().phase === 'Broken');
    assert.match(node.status().error?.message ?? '', /the node's own config failed too.*Look at the kubelet's log/);
    assert.equal(node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.status, 'False');
    const starts = node.kubelet.starts();
    await node.pass(3_600_000);
    assert.equal(node.kubelet.starts(), starts);
    fates[42] = 'healthy';
    await node.until('well again', () => node.status().phase === 'Idle');
    assert.equal(node.status().error?.reason, 'CrashLoop');
    await node.stop();
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
    await node.stop();
  });
});

describe('a trial', () => {
  it('is called off by a revert, with one restart and no trial for what is known to be good', async () => {
    const { node, good } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    node.assign({ maxPods: 100 });
    await node.until('reverted', isIdleOn(node, good));
    assert.equal(node.kubelet.starts(), 4);
    assert.equal(node.status().rejected, undefined);
    await node.stop();
  });

  it('is superseded by a newer config', async () => {
    const { node } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    const newer = node.assign({ maxPods: 160 });
    await node.until('promoted', isIdleOn(node, newer));
    assert.equal(node.kubelet.starts(), 4);
    await node.stop();
  });

  it('goes on where it was after the agent was restarted, and restarts nothing', async () => {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 30);
    await node.stop();
    const starts = node.kubelet.starts();
    const before = node.clock.monotonic();
    node.start();
    await node.until('promoted', isIdleOn(node, name));
    assert.ok(node.clock.monotonic() - before < 45_000, 'the healthy time before counts');
    assert.equal(node.kubelet.starts(), starts);
    await node.stop();
  });

  it('counts no time in which nobody looked', async () => {
    const { node } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 30);
    await node.stop();
    await node.pass(3_600_000);
    node.start();
    await node.pass(10_000);
    assert.equal(node.status().phase, 'Trial');
    await node.stop();
  });

  it('is not failed by a reboot of the machine, and goes on after it', async () => {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 }, { trial: { duration: '1m', startTimeout: '30s', maxRestarts: 0 } });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 30);
    await node.stop();
    node.reboot();
    node.start();
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().bootID, 'boot-2');
    await node.stop();
  });

  it('waits for a Node that cannot be seen, and does not fail for it', async () => {
    const { node } = await settledNode();
    node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    node.kube.setAway(true);
    await node.pass(600_000);
    assert.equal(node.agent().state().doing.phase, 'trial');
    node.kube.setAway(false);
    await node.until('promoted', () => node.status().phase === 'Idle');
    assert.equal(node.status().error, undefined);
    await node.stop();
  });

  it('fails when the kubelet is well but its Node is not Ready any more', async () => {
    const { node } = await settledNode();
    const bad = node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    node.kube.put('nodes', {
      metadata: { name: NODE },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    });
    await node.until('taken back', hasFallenBack(node, bad));
    assert.equal(node.status().error?.reason, 'NodeNotReady');
    await node.stop();
  });

  it('says so while the kubelet cannot be restarted, and goes on when it can', async () => {
    const { node } = await settledNode();
    node.kubelet.refuseRestarts(true);
    const name = node.assign({ maxPods: 150 });
    await node.until('told', () => node.status().error?.reason === 'RestartFailed');
    assert.match(node.status().error?.message ?? '', /the kubelet cannot be restarted: the bus is away/);
    await node.pass(300_000);
    assert.equal(node.maxPods(), 100);
    node.kubelet.refuseRestarts(false);
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.kubelet.starts(), 3);
    await node.stop();
  });
});

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
    await node.stop();
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
    await node.stop();
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
    await node.stop();
  });

  it('the lost checkpoint of the running config is fetched again without a restart', async () => {
    const { node, good } = await settledNode();
    await node.disk.remove(`${STATE}/checkpoints`);
    await node.pass(180_000);
    assert.equal(node.disk.tree()[`${STATE}/checkpoints/uid-${good}/7/kubelet`], payloadOf({ maxPods: 100 }));
    assert.equal(node.kubelet.starts(), 2);
    await node.stop();
  });

  it('a state directory that is lost altogether costs one trial and no config', async () => {
    const { node, good } = await settledNode();
    await node.stop();
    await node.disk.remove(`${STATE}/meta`);
    await node.disk.remove(`${STATE}/checkpoints`);
    node.start();
    await node.until('on trial', () => node.status().phase === 'Trial');
    await node.until('good again', isIdleOn(node, good));
    assert.equal(node.maxPods(), 100);
    assert.equal(node.kubelet.starts(), 3);
    await node.stop();
  });

  it('a KubeletNode that is deleted orders nothing', async () => {
    const { node } = await settledNode();
    node.kube.remove('kubeletnodes', NODE);
    await node.pass(600_000);
    assert.equal(node.kubelet.starts(), 2);
    assert.equal(node.maxPods(), 100);
    await node.stop();
  });

  it('files that somebody else changed are reported as drift, with what to look at', async () => {
    const { node } = await settledNode();
    node.disk.plant(`${DROP_INS}/99-kubelet-gitops.conf`, 'theirs');
    await node.until('told', () => node.status().phase === 'Drifted');
    assert.match(node.status().conditions?.[0]?.message ?? '', /managed files/);
    assert.equal(node.kubelet.starts(), 2);
    await node.stop();
  });

  it('an assignment that cannot be read changes nothing and is named', async () => {
    const { node } = await settledNode();
    const source = {
      namespace: 'kubelet-gitops',
      name: 'x-y',
      uid: '../../etc',
      resourceVersion: '7',
      key: 'kubelet',
      sha256: 'a'.repeat(64),
    };
    node.kube.assign(NODE, { configSource: source });
    await node.until('told', () => node.status().error?.reason === 'InvalidAssignment');
    assert.match(node.status().error?.message ?? '', /spec\.configSource\.uid/);
    assert.equal(node.kubelet.starts(), 2);
    await node.stop();
  });
});
