import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CRASHES } from '../../node/support/bad-configs.ts';
import { LOCAL_CONFIG_FILE, STATE_DIRECTORY } from '../../node/support/node-paths.ts';
import { say } from '../../node/support/say.ts';
import { TRIAL } from '../../node/support/assignments.ts';
import { IMAGES } from '../support/machine-paths.ts';
import type { World } from '../support/world.ts';

/** The guard waits for both together, from the boot on. */
const HALF_WATCHED = { ...TRIAL, duration: '1m', startTimeout: '90s' };
const FIRED = `${STATE_DIRECTORY}/guard/fired`;

/** Power cuts at moments that pass quickly, and boots in which something is missing. */
export function describePower(world: () => World): void {
  describe('that loses its power', { concurrency: 1 }, () => {
    /** The machine itself does it, as nobody else is quick enough: at once, and with nothing written that was not synced. */
    const cutOnce = (condition: string): Promise<string> =>
      world().node.machine.run(
        `systemd-run --quiet --collect sh -c '${condition}; echo b >/proc/sysrq-trigger' </dev/null`,
      );
    const rejectedNames = async (): Promise<readonly string[]> =>
      ((await world().node.assignments.status()).rejected ?? []).map(({ name }) => name);

    it('proves a config whose file was just put in place', async (t) => {
      const { node, comesBack } = world();
      await cutOnce(`until grep -q "maxPods.: 84\\b" ${LOCAL_CONFIG_FILE}; do :; done`);
      const name = await node.assignments.assign({ maxPods: 84 });
      await comesBack(t, 'cut at the installation', node.machine.rebooted);
      await node.settlesOn(name);
      assert.ok(!(await rejectedNames()).includes(name));
      assert.equal((await node.configz())['maxPods'], 84);
    });

    it('goes the rest of the way back from a config that kills the kubelet', async (t) => {
      const { node, comesBack, localFile } = world();
      const good = await localFile();
      await cutOnce(
        `until grep -q 1ns ${LOCAL_CONFIG_FILE}; do sleep 0.1; done; while grep -q 1ns ${LOCAL_CONFIG_FILE}; do :; done`,
      );
      const name = await node.assignments.assign({ ...CRASHES, maxPods: 85 });
      await comesBack(t, 'cut on the way back', node.machine.rebooted);
      await node.rejects(name);
      assert.equal(await localFile(), good);
      assert.equal((await node.configz())['maxPods'], 84);
    });

    it('has its trial taken back where nobody can watch it because the API server is away at the boot, and tries again', async (t) => {
      const { cluster, node, comesBack } = world();
      const name = await node.assignments.assign({ maxPods: 86 }, { trial: HALF_WATCHED });
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      await comesBack(t, 'cut without an API server', async () => {
        await cluster.stopApiServer();
        await node.machine.cutPower();
        const booted = performance.now();
        await guardFires();
        say(t, 'booted → taken back', booted);
        await kubeletAnswers();
        assert.doesNotMatch(await world().localFile(), /"maxPods": 86/);
        await cluster.startApiServer();
      });
      await node.settlesOn(name);
      assert.ok(!(await rejectedNames()).includes(name), 'nobody is blamed for an outage');
      assert.equal((await node.configz())['maxPods'], 86);
    });

    it('has its trial taken back where the agent’s image is gone at the boot, and tries again', async (t) => {
      const { node, comesBack } = world();
      const images = 'ctr --namespace k8s.io images';
      const name = await node.assignments.assign({ maxPods: 87 }, { trial: HALF_WATCHED });
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      await node.machine.run(`${images} tag ${IMAGES.agent} kept; ${images} rm ${IMAGES.agent}; sync`);
      await comesBack(t, 'cut without an image', async () => {
        await node.machine.cutPower();
        await guardFires();
        await kubeletAnswers();
        assert.doesNotMatch(await world().localFile(), /"maxPods": 87/);
        await node.machine.run(`${images} tag kept ${IMAGES.agent}; ${images} rm kept`);
      });
      await node.settlesOn(name);
      assert.ok(!(await rejectedNames()).includes(name));
      assert.equal((await node.configz())['maxPods'], 87);
    });

    const guardFires = (): Promise<unknown> =>
      world().node.waits('the guard to take the trial back', () => world().node.machine.run(`cat ${FIRED}`));
    /** Without an API server nobody is let in from outside. */
    const kubeletAnswers = (): Promise<unknown> =>
      world().node.waits('a healthy kubelet', async () => {
        const ask = `exec 3<>/dev/tcp/127.0.0.1/10248; printf "GET /healthz HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3`;
        return (await world().node.machine.run(`bash -c '${ask}'`)).endsWith('ok');
      });
  });
}
