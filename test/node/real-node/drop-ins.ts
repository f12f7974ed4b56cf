import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CRASHES } from '../support/bad-configs.ts';
import { DROP_IN_DIRECTORY, LOCAL_CONFIG_FILE } from '../support/node-paths.ts';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { say } from '../support/say.ts';

const OURS = `${DROP_IN_DIRECTORY}/99-kubelet-gitops.conf`;
const THEIRS = `${DROP_IN_DIRECTORY}/50-somebody.conf`;
const OVER_OURS = `${DROP_IN_DIRECTORY}/99-zzz.conf`;

const dropIn = (fields: object): string =>
  JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields });

/** A kubelet that reads a directory of drop-ins (--config-dir), in which others have a file as well. */
export function describeDropIns(world: World): void {
  describe('a node with a directory of drop-ins', { concurrency: 1 }, () => {
    let node: NodeUnderTest;
    before(async () => {
      node = await startNodeUnderTest(world, {
        name: 'node-drop-ins',
        config: { maxPods: 42 },
        kubeletFlags: [`--config-dir=${DROP_IN_DIRECTORY}`],
        files: { [THEIRS]: dropIn({ containerLogMaxFiles: 9 }) },
        agentEnv: { KUBELET_CONFIG_DIR: DROP_IN_DIRECTORY },
      });
      await node.agent.enable();
    });
    after(() => node?.stop());

    const at = (path: string): string => join(node.machine.root, path);
    /** Refused before anything was restarted, by the name of the file. */
    const refuses = async (fields: object, byFile: string): Promise<void> => {
      const before = await node.runs();
      const name = await node.assignments.assign({ ...fields });
      const { error } = await node.rejects(name);
      assert.equal(error?.reason, 'PreflightFailed');
      assert.ok(error?.message.includes(`${byFile} wins`), error?.message);
      assert.deepEqual(await node.runs(), before, 'nothing was restarted for it');
    };

    it('takes an overlay as a file of its own there, and leaves the config file alone', async (t) => {
      const started = performance.now();
      const name = await node.assignments.assign({ maxPods: 77 });
      await node.settlesOn(name);
      say(t, 'assigned → promoted (trial of 4 s)', started);
      const { maxPods, containerLogMaxFiles } = await node.configz();
      assert.deepEqual({ maxPods, containerLogMaxFiles }, { maxPods: 77, containerLogMaxFiles: 9 });
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
      assert.match((await node.read(OURS)) ?? '', /"maxPods": ?77/);
    });

    it('goes back to the file before when the kubelet dies of the next', async (t) => {
      const good = await node.read(OURS);
      const started = performance.now();
      const name = await node.assignments.assign({ ...CRASHES, maxPods: 50 });
      const { error } = await node.rejects(name);
      say(t, 'assigned → back from a crash loop', started);
      assert.match(error?.reason ?? '', /CrashLoop/);
      assert.equal(await node.read(OURS), good);
      assert.equal((await node.configz())['maxPods'], 77);
    });

    it('refuses what a later file of somebody else would win over', async () => {
      await writeFile(at(OVER_OURS), dropIn({ maxPods: 33 }));
      await refuses({ maxPods: 78 }, OVER_OURS);
      await rm(at(OVER_OURS));
    });

    it('leaves nothing of ours there when it is unassigned', async () => {
      await node.assignments.unassign();
      await node.settlesOn('local');
      assert.equal(await node.read(OURS), undefined);
      assert.equal((await node.configz())['maxPods'], 42);
    });

    it('takes the directory that the kubelet was started with where nobody told the agent of it', async () => {
      await node.agent.set({ KUBELET_CONFIG_DIR: '' });
      await node.agent.restart();
      const name = await node.assignments.assign({ containerLogMaxFiles: 7, maxPods: 79 });
      await node.settlesOn(name);
      const { maxPods, containerLogMaxFiles } = await node.configz();
      assert.deepEqual({ maxPods, containerLogMaxFiles }, { maxPods: 79, containerLogMaxFiles: 7 });
      assert.match((await node.read(OURS)) ?? '', /"maxPods": ?79/);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
    });
  });
}
