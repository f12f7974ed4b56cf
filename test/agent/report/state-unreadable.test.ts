import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { createReporter } from '#agent/report/status-reporter.ts';
import { reportStateUnreadable, statusOfStateUnreadable } from '#agent/report/state-unreadable.ts';
import { nodeReportOf, statusOf } from '#agent/report/kubelet-node-status.ts';
import { watchAssignment } from '#agent/observe/watch-assignment.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { HEARTBEAT_MS } from '#shared/contract/api/silent-agent.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createFakeKube } from '../../support/agent/fake-kube.ts';
import { STATE } from '../../support/agent/whole-node.ts';
import { hasFallenBack, settledNode } from '../../support/agent/whole-node-stories.ts';
import { A, AT, judging, onTrial, rejecting, seen } from '../../support/agent/states.ts';

const LATER = '2026-02-02T00:00:00Z';
const WHY = { unreadable: '/state/meta/trial: an agent of another version wrote it', agentVersion: '0.1.0', at: LATER };
const about = { seen: seen(), actions: [], agentVersion: '0.2.0', fault: null, diskProblems: [] };
const onTrialNow = statusOf(nodeReportOf({ ...about, state: onTrial(judging()) }), {});

describe('the status of a node whose agent cannot read its state', () => {
  it('keeps all that the other agent said of the node, and says that nobody acts on it', () => {
    const before = { ...onTrialNow, heartbeat: AT };
    const { error, conditions, agentVersion, ...rest } = statusOfStateUnreadable(WHY, before);
    const { error: _, conditions: __, agentVersion: ___, ...kept } = onTrialNow;
    assert.deepEqual(rest, kept);
    assert.equal(agentVersion, '0.1.0');
    assert.equal(error?.reason, 'StateUnreadable');
    assert.ok(error?.message.includes(WHY.unreadable));
    const told = conditions?.map(({ type, status, reason }) => [type, status, reason]);
    assert.deepEqual(told?.slice(0, 5), [
      ['Ready', 'False', 'StateUnreadable'],
      ['Reconciling', 'False', 'StateUnreadable'],
      ['Stalled', 'True', 'StateUnreadable'],
      ['KubeletConfigHealthy', 'Unknown', 'StateUnreadable'],
      ['CheckpointsIntact', 'False', 'StateUnreadable'],
    ]);
    assert.equal(conditions?.length, onTrialNow.conditions?.length);
  });

  it('is the same again when it was written once', () => {
    const before = statusOf(nodeReportOf({ ...about, state: rejecting(A) }), {});
    const once = statusOfStateUnreadable(WHY, { ...before, heartbeat: AT });
    assert.deepEqual(
      statusOfStateUnreadable({ ...WHY, at: '2026-03-03T00:00:00Z' }, { ...once, heartbeat: LATER }),
      once,
    );
  });

  it('invents nothing for a KubeletNode that is new', () => {
    const status = statusOfStateUnreadable(WHY, {});
    assert.deepEqual(Object.keys(status).sort(), ['agentVersion', 'conditions', 'error']);
  });

  it('is taken back by the other agent, with every condition that still holds', () => {
    const account = nodeReportOf({ ...about, state: onTrial(judging()) });
    const back = statusOf(account, statusOfStateUnreadable(WHY, onTrialNow));
    assert.equal(back.error, undefined);
    assert.equal(back.agentVersion, '0.2.0');
    assert.deepEqual(
      back.conditions?.map(({ type, status }) => [type, status]),
      onTrialNow.conditions?.map(({ type, status }) => [type, status]),
    );
  });
});

describe('an agent on a disk that one of another version wrote', () => {
  it('changes neither a file nor the kubelet, whatever is assigned, and the other one goes on from there', async () => {
    const { node, good } = await settledNode({ fates: { 150: 'dies' } });
    const bad = node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.status().phase === 'Trial' && node.maxPods() === 150);
    await node.stop();
    const path = `${STATE}/meta/trial`;
    const trial = node.disk.tree()[path] ?? '';
    node.disk.plant(path, trial.replace(/"version": \d+/, '"version": 99'));
    const before = { files: node.disk.tree(), orders: node.kubelet.orders.length };
    node.start();
    await node.until('told', () => node.status().error?.reason === 'StateUnreadable');
    assert.equal(node.status().phase, 'Trial', 'as the other one left it');
    node.assign({ maxPods: 200 });
    await node.pass(3_600_000);
    node.unassign();
    await node.pass(3_600_000);
    assert.deepEqual({ files: node.disk.tree(), orders: node.kubelet.orders.length }, before);
    await node.stop();
    node.disk.plant(path, trial);
    node.assign({ maxPods: 150 });
    node.start();
    await node.until('taken back', hasFallenBack(node, bad));
    assert.deepEqual([node.maxPods(), node.status().active?.name], [100, good]);
    await node.stop();
  });
});

describe('an agent whose state is in a format of before', () => {
  it('never takes it for local, changes nothing, and asks for no turn', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    await node.stop();
    for (const name of ['assigned', 'last-known-good']) {
      const path = `${STATE}/meta/${name}`;
      node.disk.plant(path, stringify(JSON.parse(node.disk.tree()[path] ?? '')));
    }
    const before = { files: node.disk.tree(), orders: node.kubelet.orders.length };
    node.start();
    await node.until('told', () => node.status().error?.reason === 'StateUnreadable');
    const { active, lastKnownGood, awaitsTurn, conditions } = node.status();
    assert.deepEqual([active?.name, lastKnownGood?.name, awaitsTurn], [good, good, undefined]);
    assert.equal(conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
    node.grant();
    await node.pass(3_600_000);
    node.unassign();
    await node.pass(3_600_000);
    assert.deepEqual({ files: node.disk.tree(), orders: node.kubelet.orders.length }, before);
    await node.stop();
  });
});

describe('an agent that stands still', () => {
  it('says so once and then only that it lives, and loudly in its log', async () => {
    const kube = createFakeKube();
    const clock = createManualClock();
    const common = { kube, nodeName: 'node-1', clock, random: () => 0.5, log: silentLog };
    const reporter = createReporter(common);
    const assignment = watchAssignment({
      ...common,
      onHeard: (node) => reporter.received(node),
      onChange: () => undefined,
    });
    kube.assign('node-1', {});
    const node = await kube.get<KubeletNode>({ resource: KUBELET_NODES }, 'node-1');
    const lines: string[] = [];
    const log = { error: (_fields: unknown, message: string) => lines.push(message) } as unknown as Log;
    const end = new AbortController();
    const standing = reportStateUnreadable(WHY, { log, reporter, assignment }, end.signal);
    await clock.advance(2 * HEARTBEAT_MS);
    kube.assign('node-1', { pool: 'general' });
    await clock.advance(2 * HEARTBEAT_MS);
    const { error, heartbeat, observedGeneration, phase } = kube.status('node-1');
    assert.equal(error?.reason, 'StateUnreadable');
    assert.notEqual(heartbeat, undefined);
    assert.deepEqual([observedGeneration, phase], [undefined, undefined]);
    const writes = kube.calls.filter((call) => call.startsWith('patch'));
    assert.ok(writes.length >= 4 && writes.length <= 7, String(writes.length));
    assert.equal(node?.metadata.name, 'node-1');
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /standing still/);
    end.abort();
    await clock.advance(0);
    await standing;
  });
});
