import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LONG_TRIAL, TRIAL } from '../support/assignments.ts';
import { CRASHES } from '../support/bad-configs.ts';
import { type DistributionNode, type DistributionWorld, startDistributionNode } from '../support/distribution-node.ts';
import { rancherLayout } from '../support/distributions/rancher.ts';
import { STATE_DIRECTORY } from '../support/node-paths.ts';
import { say } from '../support/say.ts';

/** What `kubelet-gitops import` writes of a node of k3s or RKE2: what the distribution's own drop-in sets and a pool may. */
const IMPORTED = {
  clusterDomain: 'cluster.local',
  failSwapOn: false,
  evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' },
  evictionMinimumReclaim: { 'imagefs.available': '10%', 'nodefs.available': '10%' },
  serializeImagePulls: false,
} as const;

/** The life of a node of k3s or RKE2 whose servers are elsewhere. */
export function describeChanges(world: DistributionWorld, name: 'k3s' | 'rke2'): void {
  describe(`a node of ${name}`, { concurrency: 1 }, () => {
    const layout = rancherLayout(name, 'agent');
    let node: DistributionNode;
    before(async () => {
      node = await startDistributionNode(world, { name: `${name}-changes`, layout });
    });
    after(() => node?.stop());

    const defaults = (): Promise<string | undefined> =>
      node.read(`${layout.paths.configDirectory}/00-${name}-defaults.conf`);

    const isBackWith = (file: string | undefined) => async (): Promise<boolean> =>
      (await node.dropIn()) === file && node.healthy();

    it('is taken over without a restart, assigned before the agent is there', async (t) => {
      const before = await node.runs();
      const running = await node.configz();
      const imported = await node.assignments.assign(IMPORTED);
      await node.agent.enable();
      const began = performance.now();
      await node.settlesOn(imported);
      say(t, 'the agent starts → taken over', began);
      assert.deepEqual(await node.runs(), before, 'nothing was restarted');
      // Adopted first, and written then.
      await node.waits('its file', async () => (await node.dropIn())?.includes('cluster.local'));
      // One key less than runs as well.
      const fewer = await node.assignments.assign({ clusterDomain: 'cluster.local' });
      await node.settlesOn(fewer);
      assert.deepEqual(await node.runs(), before, 'nothing was restarted');
      assert.deepEqual(await node.configz(), running);
    });

    it('takes a good change with one start of the unit, over its own files', async (t) => {
      const [before, file] = [await node.runs(), await defaults()];
      const certificate = await node.read(layout.certificate);
      const running = await node.configz();
      const began = performance.now();
      const good = await node.assignments.assign({ maxPods: 77, evictionHard: { 'memory.available': '50Mi' } });
      await node.settlesOn(good);
      say(t, 'assigned → promoted', began);
      const after = await node.runs();
      assert.equal(after.starts, before.starts + 1);
      assert.deepEqual(await node.configz(), {
        ...running,
        maxPods: 77,
        evictionHard: { ...IMPORTED.evictionHard, 'memory.available': '50Mi' },
      });
      assert.equal(await defaults(), file);
      assert.notEqual(await node.read(layout.certificate), certificate, 'each start has another certificate');
      await node.reaches('the running config, behind the new certificate', ({ conditions = [] }) =>
        conditions.some(({ type, status }) => type === 'RunningConfigSeen' && status === 'True'),
      );
    });

    /** The user's flag, and what RKE2 always passes. */
    const flagged = { podsPerCore: 9, ...(name === 'rke2' && { syncFrequency: '10s' }) };
    it('refuses what flags win over, before anything is restarted', async () => {
      const before = await node.runs();
      const { error } = await node.rejects(await node.assignments.assign(flagged));
      assert.equal(error?.reason, 'PreflightFailed');
      for (const field of Object.keys(flagged)) assert.ok(error.message.includes(field), error.message);
      assert.deepEqual(await node.runs(), before);
    });

    it('has the config before again when the kubelet dies of the next, and says why it died', async (t) => {
      const [before, good] = [await node.runs(), await node.dropIn()];
      const bad = await node.assignments.assign({ ...CRASHES, maxPods: 50 }, { trial: TRIAL });
      await node.waits('the kubelet to be away', async () => !(await node.healthy()));
      const began = performance.now();
      await node.waits('the kubelet to be back', isBackWith(good));
      say(t, 'away → healthy with the config before', began);
      const { error } = await node.rejects(bad);
      const { starts } = await node.runs();
      t.diagnostic(`${starts - before.starts} starts of the unit; ${error?.reason}: ${error?.message}`);
      // RKE2 starts its kubelet again by itself.
      assert.ok(starts - before.starts <= (name === 'k3s' ? TRIAL.maxRestarts + 2 : 2));
      assert.equal(await node.dropIn(), good);
      assert.equal(error?.reason, 'CrashLoop');
      assert.match(error?.message ?? '', /failed to run Kubelet/);
    });

    it('is saved by the guard alone from a config that the kubelet dies of', async (t) => {
      const [before, good] = [await node.runs(), await node.dropIn()];
      const bad = await node.assignments.assign({ ...CRASHES, maxPods: 51 });
      await node.waits('its start', async () => (await node.runs()).starts > before.starts);
      await node.agent.kill();
      const began = performance.now();
      assert.match((await node.dropIn()) ?? '', /1ns/, 'the agent was killed before it judged');
      await node.waits('the kubelet to be back', isBackWith(good));
      say(t, 'agent killed → healthy with the config before', began);
      t.diagnostic(`${(await node.runs()).starts - before.starts} starts of the unit`);
      await node.agent.enable();
      const { error } = await node.rejects(bad);
      assert.match(error?.message ?? '', /the guard took it back/);
    });

    it('goes on with a trial in which the distribution is upgraded', async (t) => {
      const before = await node.runs();
      const fields = { maxPods: 78 };
      await node.assignments.assign(fields, { trial: LONG_TRIAL });
      await node.waits('its trial', async () => (await node.runs()).starts > before.starts && node.healthy());
      const upgraded = layout.version.replace(/1$/, '2');
      await node.set({ STARTER_VERSION: upgraded });
      await node.machine.systemctl('restart', layout.unit);
      const began = performance.now();
      await node.waits('the kubelet to be back', node.healthy);
      const status = await node.settlesOn(await node.assignments.assign(fields));
      say(t, 'restarted by its installer → promoted', began);
      assert.ok(status.kubeletVersion?.endsWith(upgraded), status.kubeletVersion);
      assert.equal((await node.runs()).starts, before.starts + 2, 'nobody restarted it beside the installer');
      assert.equal((await node.configz())['maxPods'], 78);
    });

    it('has its own config back with one start of the unit, and nothing of ours, when the agent is taken off it', async () => {
      const [before, file] = [await node.runs(), await defaults()];
      await node.agent.disable();
      await node.agent.set({ MODE: 'uninstall' });
      await node.agent.enable();
      const unitDirectory = `/etc/systemd/system/${layout.unit}.d`;
      await node.waits('nothing of ours to be left', async () => {
        const left = await node.machine.run('find', STATE_DIRECTORY, unitDirectory, '-mindepth', '1');
        return left === '' && (await node.dropIn()) === undefined;
      });
      await node.waits('the kubelet to be back', node.healthy);
      assert.notEqual((await node.configz())['maxPods'], 78);
      assert.equal(await defaults(), file);
      assert.equal((await node.runs()).starts, before.starts + 1);
      await node.waits('systemd to forget the guard', async () => {
        const units = await node.machine.systemctl('list-units', '--all', '--no-legend', 'kubelet-gitops-guard*');
        return units === '';
      });
    });
  });
}
