import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const TEN_MINUTES_MS = 600_000;

/** The machine boots in mid-trial while the API server is away: its kubelet starts no pod, and so no agent. */
async function bootWithoutAgent(node: WholeNode): Promise<void> {
  node.kill();
  node.reboot();
  await node.pass(TEN_MINUTES_MS);
  assert.equal(node.maxPods(), 100, 'the guard takes it back');
  node.start();
}

/** For the first time, or again after so many trials that nobody watched. */
const isJudged =
  (node: WholeNode, unwatched = 0) =>
  (): boolean => {
    const { healthySeconds = 0, warnings = [] } = node.status().trial ?? {};
    return healthySeconds > 0 && warnings.length === unwatched;
  };

describe('a good config whose trial nobody watched', () => {
  it('is not rejected, says so, and is promoted in the end', async () => {
    const { node } = await settledNode({ guard: true });
    const name = node.assign({ maxPods: 150 });
    await node.until('judged', isJudged(node));
    await bootWithoutAgent(node);
    await node.until('judged again', isJudged(node, 1));
    assert.match(
      node.status().trial?.warnings?.join() ?? '',
      /^nobody watched its trial, so the guard took it back at/,
    );
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().rejected, undefined);
    assert.equal(node.status().error, undefined);
  });

  it('gives way to what is wanted by then', async () => {
    const { node } = await settledNode({ guard: true });
    node.assign({ maxPods: 150 });
    await node.until('judged', isJudged(node));
    node.kill();
    node.reboot();
    await node.pass(TEN_MINUTES_MS);
    const name = node.assign({ maxPods: 160 });
    node.start();
    await node.until('promoted', isIdleOn(node, name));
    assert.ok(!node.kubelet.history.slice(4).some(({ config }) => config['maxPods'] === 150));
  });

  it('is rejected when nobody watched it for the third time', async () => {
    const { node } = await settledNode({ guard: true });
    const name = node.assign({ maxPods: 150 });
    for (let times = 0; times < 3; times += 1) {
      await node.until('judged', isJudged(node, times));
      await bootWithoutAgent(node);
    }
    await node.until('given up', hasFallenBack(node, name));
    assert.equal(node.status().rejected?.[0]?.reason, 'AgentSilent');
  });
});

describe('a bad config whose trial nobody watched', () => {
  it('is rejected for what is seen when somebody watches', async () => {
    const { node } = await settledNode({ guard: true, fates: { 666: 'hangs' } });
    const name = node.assign({ maxPods: 666 });
    await node.until('on trial', () => node.maxPods() === 666);
    await bootWithoutAgent(node);
    await node.until('rejected', hasFallenBack(node, name));
    assert.equal(node.status().rejected?.[0]?.reason, 'NotHealthy');
    assert.equal(node.maxPods(), 100);
  });
});
