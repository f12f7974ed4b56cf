import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CRASHES } from '../support/bad-configs.ts';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { LOCAL_CONFIG_FILE } from '../support/node-paths.ts';
import { say } from '../support/say.ts';

/** Configs that break a kubelet, on a node with its agent. */
export function describeFailures(world: World): void {
  describe('a node whose configs are bad', { concurrency: 1 }, () => {
    let node: NodeUnderTest;
    before(async () => {
      node = await startNodeUnderTest(world, { name: 'node-failures', config: { maxPods: 42 } });
      await node.agent.enable();
    });
    after(() => node?.stop());

    it('takes a config back that the kubelet dies of', async (t) => {
      const started = performance.now();
      const name = await node.assignments.assign({ ...CRASHES, maxPods: 50 });
      await node.waits('a restart by systemd', async () => (await node.runs()).restarts > 0);
      const crashed = performance.now();
      say(t, 'assigned → first crash', started);
      const isBack = async (): Promise<boolean> =>
        (await node.read(LOCAL_CONFIG_FILE)) === node.localConfig && node.healthy();
      await node.waits('the kubelet to be back', isBack);
      say(t, 'first crash → healthy with the config before', crashed);
      const { error, active } = await node.rejects(name);
      say(t, 'first crash → idle, after 10 s of steady health', crashed);
      assert.equal(active?.name, 'local');
      assert.match(error?.reason ?? '', /CrashLoop/);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
    });

    it('takes a config back with which the kubelet hangs', async (t) => {
      const started = performance.now();
      const name = await node.assignments.assign({ maxPods: 51 });
      await node.hangsWith('"maxPods": 51');
      const { error } = await node.rejects(name);
      say(t, 'assigned → back from a hang (start timeout of 15 s)', started);
      assert.match(error?.reason ?? '', /NotHealthy/);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
    });
  });
}
