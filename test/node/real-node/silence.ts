import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LONG_TRIAL } from '../support/assignments.ts';
import { HANGS } from '../support/bad-configs.ts';
import type { Runs } from '../support/kubernetes-node.ts';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { AGENT_IS_LOST, AGENT_UNIT, LOCAL_CONFIG_FILE, STATE_DIRECTORY } from '../support/node-paths.ts';
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

    const fields = { maxPods: 64 };
    let run: Runs;

    it('starts while the API server is away', async () => {
      const before = await node.runs();
      await node.holdStarts();
      await node.assignments.assign(fields, { trial: LONG_TRIAL });
      await node.isHeld();
      await node.api.cut();
      await node.letStart();
      await node.waits('a healthy kubelet', node.healthy);
      run = await node.runs();
      assert.notEqual(run.invocation, before.invocation);
      await node.api.fix();
    });

    it('runs on while the API server is away, takes nothing back for that, and finishes the trial when it is there again', async (t) => {
      // The kubelet is up: what it needed for that on a busy machine does not count any more.
      await node.assignments.assign(fields, { trial: { ...LONG_TRIAL, startTimeout: '20s' } });
      const { generation } = (await node.assignments.get()).metadata;
      const { phase } = await node.reaches('word of it', ({ observedGeneration }) => observedGeneration === generation);
      assert.equal(phase, 'Trial');
      await node.waits('a Ready node', node.ready);
      await node.api.cut();
      const started = performance.now();
      // Longer than a kubelet may be away for: somebody who took the silence for a failure would have acted.
      await node.waits('the end of the outage', async () => performance.now() - started > 35_000);
      assert.deepEqual(await node.runs(), run, 'nobody restarted the kubelet');
      await node.waits('a healthy kubelet', node.healthy);
      assert.ok(await isInstalled('"maxPods": 64'));
      await node.api.fix();
      const fixed = performance.now();
      const name = await node.assignments.assign(fields);
      await node.settlesOn(name);
      say(t, 'the API server is back → promoted', fixed);
      assert.deepEqual(await node.runs(), run);
    });

    it('is saved by the guard alone from a config that hangs the kubelet, at the end of the agent’s silence', async (t) => {
      const good = await node.read(LOCAL_CONFIG_FILE);
      // It dies as soon as it has ordered the restart: nobody but the guard has a look at what comes of that.
      await node.holdStarts(`touch ${AGENT_IS_LOST}; systemctl kill --signal=KILL ${AGENT_UNIT}`);
      const name = await node.assignments.assign(HANGS, {
        trial: { duration: '3s', startTimeout: '9s', maxRestarts: 1 },
      });
      await node.isHeld();
      await node.agent.kill();
      await node.letStart();
      const started = performance.now();
      await node.waits('the guard to fire', async () => (await fired()) !== undefined);
      say(t, 'agent killed → the guard takes the hanging config back', started);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), good);
      await node.waits('a healthy kubelet', node.healthy);
      say(t, 'agent killed → healthy', started);
      await node.agent.enable();
      // Nobody watched, so it is tried once more; this time somebody sees that it hangs.
      const { error } = await node.rejects(name);
      assert.equal(error?.reason, 'NotHealthy');
      await node.isUnguarded();
    });
  });
}
