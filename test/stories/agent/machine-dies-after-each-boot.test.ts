import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, names, settledNode } from '../../support/agent/whole-node-stories.ts';

const SHORT_MS = 70_000;
/** More than ten minutes. */
const LONG_MS = 660_000;
const HOUR_MS = 3_600_000;
const PLAN = '/var/lib/kubelet-gitops/guard/plan';

/** The machine boots so often, and dies each time before an agent is up. */
async function bootLoop(node: WholeNode, times: number, lastsMs = SHORT_MS): Promise<void> {
  node.kill();
  for (let time = 0; time < times; time += 1) {
    node.reboot();
    await node.pass(lastsMs);
  }
}

describe('a config on trial under which the machine dies after each boot', () => {
  const isJudged =
    (node: WholeNode, times = 0) =>
    (): boolean => {
      const { healthySeconds = 0, warnings = [] } = node.status().trial ?? {};
      return healthySeconds > 20 && warnings.length === times;
    };

  it('is taken back at the third start without an agent, for good if none ever comes', async () => {
    const { node } = await settledNode({ guard: true });
    node.assign({ maxPods: 150 });
    await node.until('judged', isJudged(node));
    await bootLoop(node, 2);
    assert.equal(node.maxPods(), 150);
    await bootLoop(node, 1);
    assert.equal(node.maxPods(), 100);
    await bootLoop(node, 10);
    await node.pass(6 * HOUR_MS);
    assert.equal(node.maxPods(), 100);
  });

  it('is tried again, and rejected the third time', async () => {
    const { node } = await settledNode({ guard: true });
    const name = node.assign({ maxPods: 150 });
    for (let time = 0; time < 3; time += 1) {
      await node.until('judged', isJudged(node, time));
      await bootLoop(node, 3);
      assert.equal(node.maxPods(), 100);
      node.start();
    }
    await node.until('given up', hasFallenBack(node, name));
    const { rejected, error } = node.status();
    assert.equal(rejected?.[0]?.reason, 'AgentSilent');
    assert.match(error?.message ?? '', /the machine went down in 2 boots in a row/);
  });

  it('is promoted where only the power was lost: twice, and then an agent came', async () => {
    const { node } = await settledNode({ guard: true });
    const name = node.assign({ maxPods: 150 });
    await node.until('judged', isJudged(node));
    await bootLoop(node, 2);
    node.start();
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().trial?.warnings, undefined);
  });
});

describe('a promoted config under which the machine dies after each boot', () => {
  /** A node that proved 100, was booted with it, and then proved 150. */
  async function promotedNode(pods: { arrive: boolean }) {
    const { node, good } = await settledNode({ guard: true, hasPods: () => pods.arrive });
    node.kill();
    node.reboot();
    node.start();
    await node.until('100 to be proven by a boot', () => node.disk.tree()[PLAN] === undefined);
    const name = node.assign({ maxPods: 150 });
    await node.until('150 to be watched', isWatched(node));
    return { node, good, name };
  }
  const isWatched = (node: WholeNode) => (): boolean => node.disk.tree()[PLAN]?.includes('\nwatch ') === true;

  it('is taken back at the third start, tried again in its turn twice, and rejected the third time', async () => {
    const { node, good, name } = await promotedNode({ arrive: false });
    for (let time = 1; time <= 3; time += 1) {
      await bootLoop(node, 2);
      assert.equal(node.maxPods(), 150);
      await bootLoop(node, 1);
      assert.equal(node.maxPods(), 100);
      node.start();
      if (time === 3) break;
      await node.until('a turn', () => node.status().awaitsTurn !== undefined && isIdleOn(node, good)());
      const { rejected, error, awaitsTurn } = node.status();
      assert.deepEqual([rejected, error], [undefined, undefined], 'the pool hears of no failure');
      assert.match(awaitsTurn?.message ?? '', /^no agent came up under \S+ in boots that ended soon/);
      await node.pass(HOUR_MS);
      assert.equal(node.maxPods(), 100, 'no kubelet is restarted without a turn');
      node.grant();
      await node.until('150 to be watched again', isWatched(node));
    }
    await node.until('rejected', hasFallenBack(node, name));
    assert.equal(node.status().rejected?.[0]?.reason, 'AgentSilent');
    assert.deepEqual(names(node.status()), [name, good, good]);
  });

  it('is kept over boots of more than ten minutes in which the API server gives the kubelet no pods, however many', async () => {
    const { node, name } = await promotedNode({ arrive: false });
    await bootLoop(node, 6, LONG_MS);
    assert.equal(node.maxPods(), 150);
    node.start();
    await node.until('a boot to show it', () => node.disk.tree()[PLAN] === undefined && isIdleOn(node, name)());
  });
});
