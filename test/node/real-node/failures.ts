import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TRIAL } from '../support/assignments.ts';
import { CRASHES, HANGS, STARVES } from '../support/bad-configs.ts';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { CNI_FILE, LOCAL_CONFIG_FILE } from '../support/node-paths.ts';
import { say } from '../support/say.ts';

/** As kubelets write it that log without and with structure. */
const LAST_ERROR =
  /\. The kubelet’s last error: “(?:server\.go:\d+\] |run\.go:\d+\] "command failed" err=")failed to run Kubelet: /;

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
      // The agent's own restart sets systemd's count back: nobody may have been here in time to see it.
      const isTakenBack = async (): Promise<boolean> => (await node.assignments.status()).error !== undefined;
      await node.waits('a crash', async () => (await node.runs()).restarts > 0 || isTakenBack());
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
      assert.match(error?.message ?? '', LAST_ERROR);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
    });

    it('takes a config back with which the kubelet hangs', async (t) => {
      const started = performance.now();
      const name = await node.assignments.assign(HANGS, { trial: { ...TRIAL, startTimeout: '15s' } });
      const { error } = await node.rejects(name);
      say(t, 'assigned → back from a hang (start timeout of 15 s)', started);
      assert.match(error?.reason ?? '', /NotHealthy/);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
    });

    it('takes a config back with which the kubelet is well and its Node comes under pressure', async (t) => {
      const started = performance.now();
      const name = await node.assignments.assign(STARVES, { trial: { ...TRIAL, duration: '10m' } });
      const { error } = await node.rejects(name);
      say(t, 'assigned → back from pressure', started);
      assert.equal(error?.reason, 'NodeHarmed');
      assert.match(error?.message ?? '', /its Node is under (?:Disk|PID)Pressure, and was not before/);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
    });

    it('promotes a config on a node that was not Ready before, whose kubelet is well: nothing else could fix it from afar', async (t) => {
      const conflist = join(node.machine.root, CNI_FILE);
      await rename(conflist, `${conflist}.away`);
      const started = performance.now();
      await node.waits('the Node to be NotReady', async () => !(await node.ready()));
      say(t, 'no network plugin → NotReady', started);
      const name = await node.assignments.assign({ maxPods: 52 });
      await node.settlesOn(name);
      assert.equal(await node.ready(), false);
      await rename(`${conflist}.away`, conflist);
      await node.waits('the Node to be Ready', () => node.ready());
      assert.equal((await node.assignments.status()).active?.name, name);
    });
  });
}
