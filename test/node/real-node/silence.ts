import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { LOCAL_CONFIG_FILE, STATE_DIRECTORY } from '../support/node-paths.ts';
import { say } from '../support/say.ts';

/** What becomes of a trial when the API server is away for a while, or the agent for good. */
export function describeSilence(world: World): void {
  describe('a node that nobody hears in mid-trial', { concurrency: 1 }, () => {
    let node: NodeUnderTest;
    before(async () => {
      node = await startNodeUnderTest(world, { name: 'node-silence', config: { maxPods: 42 } });
      await node.agent.enable();
    });
    after(() => node?.stop());

    const isInstalled = async (text: string): Promise<boolean> =>
      ((await node.read(LOCAL_CONFIG_FILE)) ?? '').includes(text);
    const fired = (): Promise<string | undefined> => node.read(`${STATE_DIRECTORY}/guard/fired`);

    it('runs on while the API server is away, takes nothing back for that, and finishes the trial when it is there again', async (t) => {
      const before = await node.runs();
      const name = await node.assignments.assign({ maxPods: 64 });
      await node.waits('another run', async () => {
        const { invocation } = await node.runs();
        return invocation !== '' && invocation !== before.invocation;
      });
      await node.api.cut();
      const started = performance.now();
      await node.waits('a healthy kubelet', node.healthy);
      const run = await node.runs();
      // Longer than the kubelet may take to come up (15 s): somebody who took the silence for a failure would have acted.
      await node.waits('the end of the outage', async () => performance.now() - started > 25_000);
      assert.deepEqual(await node.runs(), run, 'nobody restarted the kubelet');
      assert.equal(await node.healthy(), true);
      assert.ok(await isInstalled('"maxPods": 64'));
      await node.api.mend();
      const mended = performance.now();
      await node.settlesOn(name);
      say(t, 'the API server is back → promoted', mended);
      assert.deepEqual(await node.runs(), run);
    });

    it('is saved by the guard alone from a config that hangs the kubelet, at the end of the agent’s silence', async (t) => {
      const good = await node.read(LOCAL_CONFIG_FILE);
      const name = await node.assignments.assign(
        { maxPods: 63 },
        { trial: { duration: '3s', startTimeout: '9s', maxRestarts: 1 } },
      );
      await node.hangsWith('"maxPods": 63');
      await node.agent.kill();
      const started = performance.now();
      await node.waits('the guard to fire', async () => (await fired()) !== undefined, 90_000);
      say(t, 'agent killed → the guard takes the hanging config back', started);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), good);
      await node.waits('a healthy kubelet', node.healthy);
      say(t, 'agent killed → healthy', started);
      await node.agent.enable();
      const { error } = await node.rejects(name);
      assert.equal(error?.reason, 'AgentSilent');
      assert.equal(await node.isGuarded(), false);
    });
  });
}
