import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const MINUTE = 60_000;
const trial: TrialSpec = { duration: '1m', startTimeout: '2m', maxRestarts: 2 };
const AGENT = { program: 'k3s', hostsServer: false } as const;

/** A node of k3s whose kubelet is started for another config while it has to wait. */
async function waitingNode(hostsServer = false, isApiAway = true) {
  let isAway = false;
  const setup = await settledNode({ guard: true, starter: { ...AGENT, hostsServer, hasToWait: () => isAway } });
  const { node } = setup;
  const setAway = (away: boolean): void => {
    isAway = away;
    node.kube.setAway(away && isApiAway);
  };
  const orders = node.kubelet.orders.length;
  const name = node.assign({ maxPods: 150 }, { trial });
  await node.until('the config is fetched', () => node.status().phase === 'Trial');
  setAway(true);
  await node.until('waiting', () => node.kubelet.isWaiting());
  return { ...setup, name, setAway, restarts: () => node.kubelet.orders.length - orders };
}

describe('a kubelet that cannot start while its server is away', () => {
  it('costs a good config nothing, however long the start timeout is exceeded', async () => {
    const { node, name, setAway, restarts } = await waitingNode();
    await node.pass(20 * MINUTE);
    setAway(false);
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().rejected, undefined);
    assert.equal(restarts(), 1);
  });

  it('has its files put back after half an hour, without a restart and without blame', async () => {
    const { node, good, name, setAway, restarts } = await waitingNode();
    await node.pass(31 * MINUTE);
    assert.equal(node.agent().state().doing.phase, 'falling-back');
    assert.ok(node.disk.tree()['/etc/kubernetes/kubelet.conf.d/99-kubelet-gitops.conf']?.includes('100'));
    // Nor is what was proven given up for it.
    await node.pass(120 * MINUTE);
    assert.equal(node.agent().state().lastKnownGood?.source.name, good);
    assert.equal(restarts(), 1);
    setAway(false);
    await node.until('the kubelet reads what was put back', () => node.maxPods() === 100);
    await node.until('tried again, and promoted', isIdleOn(node, name));
    assert.equal(node.status().rejected, undefined);
    assert.equal(restarts(), 2);
  });

  it('counts all time on a node that runs a server itself', async () => {
    const { node, good, name, setAway } = await waitingNode(true);
    await node.pass(20 * MINUTE);
    assert.notEqual(node.agent().state().doing.phase, 'trial');
    setAway(false);
    await node.until('taken back', hasFallenBack(node, name));
    assert.deepEqual([node.status().error?.reason, node.status().active?.name], ['NotHealthy', good]);
  });

  it('counts all time once the kubelet began', async () => {
    const starter = { ...AGENT, hasToWait: () => false };
    const { node } = await settledNode({ guard: true, fates: { 150: 'hangs' }, starter });
    const name = node.assign({ maxPods: 150 }, { trial });
    await node.until('it hangs', () => node.maxPods() === 150);
    node.kube.setAway(true);
    await node.pass(3 * MINUTE);
    assert.equal(node.maxPods(), 100);
    node.kube.setAway(false);
    await node.until('taken back', hasFallenBack(node, name));
  });
});

describe('a program that takes long before it starts the kubelet', () => {
  it('has a quarter of an hour for that, and the kubelet its own start timeout from then on', async () => {
    const { node, name, setAway } = await waitingNode(false, false);
    await node.pass(14 * MINUTE);
    assert.match(
      node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.message ?? '',
      /k3s has not started the kubelet yet/,
    );
    setAway(false);
    await node.until('promoted', isIdleOn(node, name));
  });

  it('fails the trial after that', async () => {
    const { node, name, setAway } = await waitingNode(false, false);
    await node.pass(16 * MINUTE);
    setAway(false);
    await node.until('taken back', hasFallenBack(node, name));
    assert.equal(node.status().error?.reason, 'NotHealthy');
  });
});
