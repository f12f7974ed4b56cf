import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LONG_TRIAL, TRIAL } from '../../node/support/assignments.ts';
import { CRASHES } from '../../node/support/bad-configs.ts';
import { reportsFullDisk } from '../../node/support/full-disk.ts';
import { say } from '../../node/support/say.ts';
import type { World } from '../support/world.ts';

const MIB = 1024 ** 2;

/** What happens to every node sooner or later: good configs, bad ones, power cuts, a full disk. */
export function describeEveryday(world: () => World): void {
  describe('from day to day', { concurrency: 1 }, () => {
    it('takes a change up and proves it, and no pod notices', async (t) => {
      const { node, agentRanOn } = world();
      await node.pods.run('web');
      await node.waits('a pod', async () => (await node.pods.state('default', 'web'))?.ready);
      const web = await node.pods.state('default', 'web');
      const starts = await node.starts();
      const started = performance.now();
      const name = await node.assignments.assign({ maxPods: 77, containerLogMaxFiles: 4 });
      await node.settlesOn(name);
      say(t, 'assigned → promoted (trial of 4 s)', started);
      const { maxPods, containerLogMaxFiles, cgroupDriver } = await node.configz();
      assert.deepEqual(
        { maxPods, containerLogMaxFiles, cgroupDriver },
        { maxPods: 77, containerLogMaxFiles: 4, cgroupDriver: 'systemd' },
      );
      assert.equal(await node.ready(), true);
      assert.equal(await node.starts(), starts + 1);
      assert.deepEqual(await node.pods.state('default', 'web'), web);
      await agentRanOn();
    });

    it('takes a config back that the kubelet dies of, and says what of', async (t) => {
      const { node, agentRanOn, localFile } = world();
      const good = await localFile();
      const started = performance.now();
      const name = await node.assignments.assign({ ...CRASHES, maxPods: 50 });
      const { error } = await node.rejects(name);
      say(t, 'assigned → back from a crash loop', started);
      assert.equal(error?.reason, 'CrashLoop');
      assert.match(
        error?.message ?? '',
        /The kubelet’s last error: “run\.go:\d+\] "command failed" err="failed to run Kubelet/,
      );
      assert.equal(await localFile(), good);
      await agentRanOn();
    });

    for (const signal of ['memory.available', 'imagefs.available']) {
      it(`refuses to evict below what the machine has left: ${signal}, and restarts nothing for it`, async () => {
        const { node, agentRanOn } = world();
        const starts = await node.starts();
        const name = await node.assignments.assign({ evictionHard: { [signal]: '99%' } });
        const { error } = await node.rejects(name);
        assert.equal(error?.reason, 'PreflightFailed');
        assert.ok(error?.message.includes(signal), error?.message);
        assert.equal(await node.starts(), starts);
        await agentRanOn();
      });
    }

    it('ends the trial of a config that evicts pods, and keeps its own pod', async (t) => {
      const { node, agentRanOn, localFile } = world();
      const good = await localFile();
      const free = Number(await node.machine.run('df -B1 --output=avail / | tail -1'));
      const started = performance.now();
      const name = await node.assignments.assign(
        { evictionHard: { 'imagefs.available': `${free - 200 * MIB}` } },
        { trial: { ...TRIAL, duration: '10m' } },
      );
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      // As an image that is pulled: nothing that the config before would have minded.
      await node.machine.run(`fallocate -l ${400 * MIB} /pulled`);
      const { error } = await node.rejects(name);
      await node.machine.run('rm /pulled');
      say(t, 'assigned → back from pressure', started);
      assert.equal(error?.reason, 'NodeHarmed');
      assert.match(error?.message ?? '', /its Node is under DiskPressure, and was not before/);
      assert.equal(await localFile(), good);
      await agentRanOn();
    });

    it('goes on with a trial after a power cut in the middle of it', async (t) => {
      const { node, cutPower } = world();
      const fields = { maxPods: 81 };
      const name = await node.assignments.assign(fields, { trial: LONG_TRIAL });
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      await cutPower(t);
      await node.assignments.assign(fields);
      await node.settlesOn(name);
      assert.equal((await node.configz())['maxPods'], 81);
      assert.equal(await node.starts(), 1, 'the boot was all that started it');
      await node.waits('the Node to be Ready', node.ready);
    });

    it('has what it has just proved after a power cut', async (t) => {
      const { node, cutPower } = world();
      const name = await node.assignments.assign({ maxPods: 91 });
      const { promotedAt } = await node.settlesOn(name);
      await cutPower(t);
      assert.equal((await node.configz())['maxPods'], 91);
      const status = await node.settlesOn(name);
      assert.equal(status.promotedAt, promotedAt, 'it was not tried again');
      assert.equal(await node.starts(), 1, 'the boot was all that started it');
      await node.waits('the Node to be Ready', node.ready);
    });

    it('keeps what it has when the disk is full, and goes on when there is room', async (t) => {
      const { node, agentRanOn, localFile } = world();
      const good = await localFile();
      const starts = await node.starts();
      await node.machine.run(
        'fallocate -l "$(df -B1 --output=avail / | tail -1)" /fill; cat /dev/zero >/fill-2 || true',
      );
      const name = await node.assignments.assign({ maxPods: 92 });
      const { error } = await node.reaches('word of the full disk', reportsFullDisk);
      t.diagnostic(`a full disk: ${error?.reason}: ${error?.message}`);
      assert.equal(await localFile(), good);
      assert.equal(await node.starts(), starts);
      await node.machine.run('rm /fill /fill-2');
      const started = performance.now();
      await node.settlesOn(name);
      say(t, 'there is room again → promoted', started);
      assert.equal((await node.configz())['maxPods'], 92);
      await agentRanOn();
    });
  });
}
