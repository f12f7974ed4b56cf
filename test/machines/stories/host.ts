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

    it('ends the trial of a config that evicts below a little more than what is left of memory', async (t) => {
      const { node, agentRanOn, localFile } = world();
      const good = await localFile();
      const available = async (): Promise<number> =>
        Number(await node.machine.run(`awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo`));
      // Below half of the machine, a threshold that is crossed already is a warning only.
      const hog = (await available()) - 700;
      await node.machine.run(
        `systemd-run --quiet --unit=hog sh -c 'head -c ${hog}M /dev/zero | tail | sleep infinity'`,
      );
      await node.waits('a machine with little memory left', async () => (await available()) < 800);
      const started = performance.now();
      const name = await node.assignments.assign(
        { evictionHard: { 'memory.available': `${(await available()) + 100}Mi` } },
        { trial: LONG_TRIAL },
      );
      const { error } = await node.rejects(name);
      say(t, 'assigned → back from pressure', started);
      await node.machine.run('systemctl stop hog');
      assert.equal(error?.reason, 'NodeHarmed');
      assert.match(error?.message ?? '', /its Node is under MemoryPressure, and was not before/);
      assert.equal(await localFile(), good);
      await agentRanOn();
    });
  });
}
