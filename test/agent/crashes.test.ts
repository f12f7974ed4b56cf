import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWholeNode, type WholeNode } from '../support/agent/whole-node.ts';

/** More than any of the stories below has: from the checkpoint to the last garbage. */
const MOST_EFFECTS = 32;
const SHORT = { duration: '10s', startTimeout: '15s', maxRestarts: 1 };

const idleOn = (node: WholeNode, maxPods: number) => () =>
  node.status().phase === 'Idle' && node.maxPods() === maxPods && node.agent().state().doing.phase === 'idle';

/**
 * Tells a story again and again, and kills the agent in it before its first, second, third … change of the disk or
 * restart; then another agent goes on.
 */
async function tell(story: (node: WholeNode) => void, maxPods: number, mostStarts: number): Promise<void> {
  for (let effects = 0; effects < MOST_EFFECTS; effects += 1) {
    const node = createWholeNode({ fates: { 250: 'dies', 251: 'hangs' } });
    const good = node.assign({ maxPods: 100 }, { trial: SHORT });
    await node.until(
      'the first config is good',
      () => node.status().lastKnownGood?.name === good && idleOn(node, 100)(),
    );
    await node.stop();
    node.start(effects);
    story(node);
    await node.pass(60_000);
    node.start();
    await node.pass(5_000);
    await node.until(`all is well after a death at effect ${effects}`, idleOn(node, maxPods));
    assert.ok(
      node.kubelet.starts() <= mostStarts,
      `${node.kubelet.starts()} starts after a death at effect ${effects}`,
    );
    await node.stop();
  }
}

describe('an agent that is killed between any two effects', () => {
  it('of a good assignment: the next one brings it to its end, with one restart too many at most', async () => {
    await tell((node) => void node.assign({ maxPods: 150 }, { trial: SHORT }), 150, 4);
  });

  it('of one that hangs: the next one takes it back', async () => {
    await tell((node) => void node.assign({ maxPods: 251 }, { trial: SHORT }), 100, 6);
  });

  it('of one that dies: the next one takes it back, however often the kubelet crashed meanwhile', async () => {
    await tell((node) => void node.assign({ maxPods: 250 }, { trial: SHORT }), 100, Infinity);
  });

  it('of an unassignment: the next one gives the local config back', async () => {
    await tell((node) => node.unassign(), 42, 4);
  });
});
