import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LONG_TRIAL } from '../../node/support/assignments.ts';
import { say } from '../../node/support/say.ts';
import type { World } from '../support/world.ts';

/** What happens around a kubelet on its machine, and what it asks of the machine. */
export function describeHost(world: () => World): void {
  describe('whose host has a life of its own', { concurrency: 1 }, () => {
    it('finishes a trial in whose middle the API server is away', async (t) => {
      const { cluster, node, agentRanOn } = world();
      const starts = await node.starts();
      const fields = { maxPods: 52 };
      // Longer than a kubelet may be away for: who takes the silence for a failure would act.
      const name = await node.assignments.assign(fields, { trial: { ...LONG_TRIAL, startTimeout: '30s' } });
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      await cluster.stopApiServer();
      const away = performance.now();
      await node.waits('the end of the outage', async () => performance.now() - away > 45_000);
      assert.match(await world().localFile(), /"maxPods": 52/);
      await cluster.startApiServer();
      const back = performance.now();
      await node.assignments.assign(fields);
      await node.settlesOn(name);
      say(t, 'the API server is back → promoted', back);
      assert.equal(await node.starts(), starts + 1);
      await agentRanOn();
    });

    it('gives pods swap where a config says so, and refuses a config with which the kubelet would not start for it', async () => {
      const { node, agentRanOn } = world();
      const swap = { failSwapOn: false, memorySwap: { swapBehavior: 'LimitedSwap' } };
      // While there is none: the kubelet's own config does not let it start beside swap.
      const name = await node.assignments.assign(swap);
      await node.settlesOn(name);
      await node.machine.run('fallocate -l 256M /swap && chmod 600 /swap && mkswap -q /swap && swapon /swap');
      const starts = await node.starts();
      const without = await node.assignments.assign({ maxPods: 53 });
      const { error } = await node.rejects(without);
      assert.equal(error?.reason, 'PreflightFailed');
      assert.match(error?.message ?? '', /swap/);
      assert.equal(await node.starts(), starts);
      const again = await node.assignments.assign({ ...swap, maxPods: 53 });
      await node.settlesOn(again);
      await node.pods.run('swaps', { requests: { memory: '64Mi' }, limits: { memory: '128Mi' } });
      await node.waits('a pod', async () => (await node.pods.state('default', 'swaps'))?.ready);
      const { uid = '' } = (await node.pods.state('default', 'swaps')) ?? {};
      const slice = `kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`;
      const limits = await node.machine.run(
        `cat /sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/${slice}/*/memory.swap.max`,
      );
      assert.ok(
        limits.split('\n').some((limit) => Number(limit) > 0),
        limits,
      );
      await node.pods.remove('swaps');
      await node.machine.run('swapoff /swap && rm /swap');
      await node.settlesOn(await node.assignments.assign({ maxPods: 54 }));
      await agentRanOn();
    });

    it('ends the trial of a config that evicts below what a program of the host leaves of memory', async (t) => {
      const { node, agentRanOn, localFile } = world();
      const good = await localFile();
      const available = async (): Promise<number> =>
        Number(await node.machine.run(`awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo`));
      const free = await available();
      // Preflight cannot foresee it: twice as much is there when the config comes.
      const threshold = Math.floor(free / 2);
      const name = await node.assignments.assign(
        { evictionHard: { 'memory.available': `${threshold}Mi` } },
        { trial: LONG_TRIAL },
      );
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      const started = performance.now();
      await node.machine.run(
        `systemd-run --quiet --unit=hog sh -c 'dd if=/dev/zero bs=${free - threshold + 200}M count=1 | sleep infinity'`,
      );
      const rejects = node.rejects(name);
      await Promise.allSettled([rejects]);
      say(t, 'memory taken → back from pressure', started);
      await node.machine.run('systemctl stop hog');
      const { error } = await rejects;
      assert.equal(error?.reason, 'NodeHarmed');
      assert.match(error?.message ?? '', /its Node is under MemoryPressure, and was not before/);
      assert.equal(await localFile(), good);
      await agentRanOn();
    });

    it('gives pods their time when the machine is turned off in mid-trial, and proves the config when it is back', async (t) => {
      const { node, renewAgent } = world();
      const fields = { shutdownGracePeriod: '40s', shutdownGracePeriodCriticalPods: '20s', maxPods: 55 };
      await node.pods.run('leaves');
      await node.waits('a pod', async () => (await node.pods.state('default', 'leaves'))?.ready);
      const name = await node.assignments.assign(fields, { trial: LONG_TRIAL });
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      await node.waits('the kubelet to ask for time', async () =>
        (await node.machine.run('systemd-inhibit --list --no-pager')).includes('kubelet'),
      );
      await node.machine.runLater('systemctl poweroff');
      const off = performance.now();
      await node.machine.turnOn();
      say(t, 'turned off → booted', off);
      const { disruptedBy } = (await node.pods.state('default', 'leaves')) ?? {};
      assert.equal(disruptedBy, 'TerminationByKubelet', 'it was told before the machine went down');
      await node.pods.remove('leaves');
      await renewAgent();
      await node.assignments.assign(fields);
      await node.settlesOn(name);
      assert.equal((await node.configz())['shutdownGracePeriod'], '40s');
      assert.equal(await node.starts(), 1, 'the boot was all that started it');
      await node.waits('the Node to be Ready', node.ready);
    });
  });
}
