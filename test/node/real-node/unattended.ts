import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LONG_TRIAL } from '../support/assignments.ts';
import { CRASHES } from '../support/bad-configs.ts';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { LOCAL_CONFIG_FILE, STATE_DIRECTORY } from '../support/node-paths.ts';
import { say } from '../support/say.ts';

/** What becomes of a trial when the agent is killed or the machine is rebooted. */
export function describeUnattended(world: World): void {
  describe('a node that nobody looks after in mid-trial', { concurrency: 1 }, () => {
    let node: NodeUnderTest;
    before(async () => {
      node = await startNodeUnderTest(world, { name: 'node-unattended', config: { maxPods: 42 } });
      await node.agent.enable();
      await node.reaches('a first report', ({ phase }) => phase !== undefined);
    });
    after(() => node?.stop());

    const isInstalled = async (text: string): Promise<boolean> =>
      ((await node.read(LOCAL_CONFIG_FILE)) ?? '').includes(text);
    const fired = (): Promise<string | undefined> => node.read(`${STATE_DIRECTORY}/guard/fired`);

    it('finishes the trial when the agent is killed in it and started again', async () => {
      const fields = { maxPods: 61 };
      const name = await node.assignments.assign(fields, { trial: LONG_TRIAL });
      await node.waits('the guard', node.isGuarded);
      await node.agent.kill();
      assert.equal((await node.assignments.status()).lastKnownGood?.name, 'local');
      await node.assignments.assign(fields);
      await node.agent.enable();
      await node.settlesOn(name);
      assert.equal((await node.configz())['maxPods'], 61);
      await node.isUnguarded();
    });

    it('is saved by the guard alone from a config that the kubelet dies of, after a reboot without an agent', async (t) => {
      const good = await node.read(LOCAL_CONFIG_FILE);
      await node.holdStarts();
      const name = await node.assignments.assign({ ...CRASHES, maxPods: 62 });
      await node.isHeld();
      assert.ok(await isInstalled('"1ns"'));
      await node.agent.kill();
      await node.machine.reboot();
      const started = performance.now();
      await node.waits('the guard to fire', async () => (await fired()) !== undefined);
      say(t, 'boot → the guard takes the crash-looping config back', started);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), good);
      await node.waits('a healthy kubelet', node.healthy);
      say(t, 'boot → healthy', started);
      await node.waits('a Ready node', node.ready);
      assert.equal((await node.configz())['maxPods'], 61);
      await node.agent.enable();
      const { error, active } = await node.rejects(name);
      assert.equal(error?.reason, 'CrashLoop');
      assert.match(error?.message ?? '', /the guard took it back/);
      assert.notEqual(active?.name, 'local');
      await node.isUnguarded();
    });
  });
}
