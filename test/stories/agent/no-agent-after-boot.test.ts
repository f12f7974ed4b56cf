import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, names, settledNode } from '../../support/agent/whole-node-stories.ts';

const HOUR_MS = 3_600_000;
const PLAN = '/var/lib/kubelet-gitops/guard/plan';

const planOf = (node: WholeNode): string | undefined => node.disk.tree()[PLAN];

/** A node that proved 100, was booted with it, and then proved 150. */
async function promotedNode(pods: { arrive: boolean; agent?: boolean }) {
  const { node, good } = await settledNode({
    guard: true,
    hasPods: () => pods.arrive,
    hasAgentPod: () => pods.agent ?? true,
  });
  await boot(node);
  node.start();
  await node.until('100 to be proven by a boot', () => planOf(node) === undefined);
  const name = node.assign({ maxPods: 150 });
  await node.until('150 to be promoted', isIdleOn(node, name));
  await node.until('its boot to be watched', () => planOf(node)?.includes('watch boot-2') === true);
  return { node, good, name };
}

/** No agent comes up. */
async function boot(node: WholeNode, lastsMs = 0): Promise<void> {
  node.kill();
  node.reboot();
  await node.pass(lastsMs);
}

const leftovers = (node: WholeNode): readonly string[] =>
  Object.keys(node.disk.tree()).filter((path) => /guard|restore|removed/.test(path));

describe('a promoted config after a boot', () => {
  it('is kept, and guarded no more, once an agent is there', async () => {
    const { node, name } = await promotedNode({ arrive: true });
    const starts = node.kubelet.history.length;
    await boot(node, 60_000);
    node.start();
    await node.until('nothing to be left', () => leftovers(node).length === 0);
    await node.pass(HOUR_MS);
    assert.equal(node.kubelet.history.length, starts + 1, 'nobody restarts it');
    assert.deepEqual(names(node.status()), [name, name, name]);
  });

  it('is kept by a guard that has no witness, for as long as the API server is away', async () => {
    const pods = { arrive: false };
    const { node, name } = await promotedNode(pods);
    const starts = node.kubelet.history.length;
    await boot(node, 6 * HOUR_MS);
    pods.arrive = true;
    await node.pass(600_000);
    assert.equal(node.maxPods(), 150);
    node.start();
    await node.until('nothing to be left', () => leftovers(node).length === 0);
    assert.equal(node.kubelet.history.length, starts + 1);
    assert.deepEqual(names(node.status()), [name, name, name]);
  });

  it('is taken back where no agent comes up beside other pods, tried again in its turn, and rejected after the next boot', async () => {
    const { node, good, name } = await promotedNode({ arrive: true });
    await boot(node, 890_000);
    assert.equal(node.maxPods(), 150, 'not before its time');
    await node.pass(90_000);
    assert.equal(node.maxPods(), 100, 'an agent came up under that');
    node.start();
    await node.until('a turn to be asked for', () => node.status().awaitsTurn !== undefined && isIdleOn(node, good)());
    const { rejected, error, awaitsTurn } = node.status();
    assert.deepEqual([rejected, error], [undefined, undefined], 'the pool hears of no failure');
    assert.match(awaitsTurn?.message ?? '', /^no agent came up under \S+ after a boot/);
    await node.pass(HOUR_MS);
    assert.equal(node.maxPods(), 100, 'no kubelet is restarted without a turn');
    node.grant();
    await node.until('150 to be promoted again', isIdleOn(node, name));
    await node.until('its boot to be watched', () => planOf(node)?.includes('watch boot-3') === true);
    await boot(node, 990_000);
    node.start();
    await node.until('rejected', hasFallenBack(node, name));
    assert.equal(node.status().rejected?.[0]?.reason, 'AgentSilent');
    assert.deepEqual(names(node.status()), [name, good, good]);
    assert.deepEqual(leftovers(node), []);
  });

  it('leads past a config that no boot has shown, to the one before it', async () => {
    const { node, good } = await promotedNode({ arrive: true });
    const third = node.assign({ maxPods: 160 });
    await node.until('160 to be promoted', isIdleOn(node, third));
    await boot(node, 990_000);
    assert.equal(node.maxPods(), 100);
    node.start();
    await node.until('at rest', isIdleOn(node, good));
  });

  it('is not taken back from an agent whose disk is full', async () => {
    const { node } = await promotedNode({ arrive: true });
    node.kill();
    node.disk.failAfter(0);
    node.reboot();
    node.start();
    await node.pass(HOUR_MS);
    assert.equal(node.maxPods(), 150);
  });
});

describe('a promoted config after a start of the kubelet alone', () => {
  /** A person restarts the kubelet, or it is upgraded; it refuses the agent's pod. */
  async function refuseAgent(node: WholeNode, pods: { agent: boolean }, lastsMs: number): Promise<void> {
    node.kubelet.restartByHand();
    await node.pass(5_000);
    node.kill();
    pods.agent = false;
    await node.pass(lastsMs);
  }

  it('is taken back where that ended the agent, tried again in its turn, and rejected after the next time', async () => {
    const pods = { arrive: true, agent: true };
    const { node, good, name } = await promotedNode(pods);
    await refuseAgent(node, pods, 880_000);
    assert.equal(node.maxPods(), 150, 'not before its time');
    await node.pass(90_000);
    assert.equal(node.maxPods(), 100, 'an agent came up under that');
    pods.agent = true;
    node.start();
    await node.until('a turn to be asked for', () => node.status().awaitsTurn !== undefined && isIdleOn(node, good)());
    const { rejected, error, awaitsTurn } = node.status();
    assert.deepEqual([rejected, error], [undefined, undefined], 'the pool hears of no failure');
    assert.match(awaitsTurn?.message ?? '', /^no agent came up under \S+ after a start of the kubelet/);
    await node.pass(HOUR_MS);
    assert.equal(node.maxPods(), 100, 'no kubelet is restarted without a turn');
    node.grant();
    await node.until('150 to be promoted again', isIdleOn(node, name));
    await node.until('it to be watched', () => planOf(node)?.includes('watch boot-2') === true);
    await refuseAgent(node, pods, 970_000);
    pods.agent = true;
    node.start();
    await node.until('rejected', hasFallenBack(node, name));
    assert.equal(node.status().rejected?.[0]?.reason, 'AgentSilent');
    assert.match(node.status().error?.message ?? '', /again after a start of the kubelet, which ended its pod/);
    assert.deepEqual(names(node.status()), [name, good, good]);
    assert.deepEqual(leftovers(node), []);
  });

  it('is kept where the agent lives on: what becomes of it later says nothing', async () => {
    const pods = { arrive: true, agent: true };
    const { node } = await promotedNode(pods);
    const starts = node.kubelet.history.length;
    node.kubelet.restartByHand();
    await node.pass(300_000);
    node.kill();
    pods.agent = false;
    await node.pass(6 * HOUR_MS);
    assert.equal(node.kubelet.history.length, starts + 1, 'nobody restarts it');
    assert.equal(node.maxPods(), 150);
  });

  it('is kept where no agent was there before: one that was deleted, or uninstalled by hand', async () => {
    const pods = { arrive: true, agent: true };
    const { node } = await promotedNode(pods);
    node.kill();
    pods.agent = false;
    await node.pass(60_000);
    node.kubelet.restartByHand();
    await node.pass(6 * HOUR_MS);
    assert.equal(node.maxPods(), 150);
  });

  it('is kept while the kubelet keeps the agent’s pod, be it silent: the API server may be away, or the agent broken', async () => {
    const { node, name } = await promotedNode({ arrive: true });
    const starts = node.kubelet.history.length;
    node.kubelet.restartByHand();
    node.kill();
    await node.pass(6 * HOUR_MS);
    assert.equal(node.kubelet.history.length, starts + 1);
    node.start();
    await node.pass(300_000);
    assert.deepEqual(names(node.status()), [name, name, name]);
  });

  it('is looked after until the kubelet has heard of its pods: an agent cut off with it gives no sign yet', async () => {
    const pods = { arrive: true, agent: true };
    const { node } = await promotedNode(pods);
    node.kube.setAway(true);
    node.kubelet.restartByHand();
    await node.pass(HOUR_MS);
    node.kube.setAway(false);
    node.kill();
    pods.agent = false;
    await node.pass(970_000);
    assert.equal(node.maxPods(), 100);
  });
});
