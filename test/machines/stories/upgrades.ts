import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { locateKubelet } from '../../cluster/support/binaries.ts';
import { LONG_TRIAL } from '../../node/support/assignments.ts';
import { KUBELET_UNIT, LOCAL_CONFIG_FILE } from '../../node/support/node-paths.ts';
import { say } from '../../node/support/say.ts';
import { kubeadmConfig } from '../support/kubeadm-files.ts';
import { sendProgram } from '../support/send-file.ts';
import type { World } from '../support/world.ts';

const KUBELET = '/usr/bin/kubelet';
const OTHER_MINOR = '1.36';

/** What the upgrade of a cluster does to a node: another kubelet, and another config file from kubeadm. */
export function describeUpgrades(world: () => World): void {
  describe('that is upgraded', { concurrency: 1 }, () => {
    before(async () => {
      const { machine } = world().node;
      const located = await locateKubelet(OTHER_MINOR);
      if (!located.found) throw new Error(located.reason);
      await machine.run(`cp ${KUBELET} ${KUBELET}-newest`);
      await sendProgram(machine, located.binaries.kubelet, `${KUBELET}-other`);
    });

    /** As a package of another version does, and whoever installs it. */
    const replace = async (by: 'newest' | 'other'): Promise<void> => {
      const { machine } = world().node;
      await machine.run(
        `cp ${KUBELET}-${by} ${KUBELET}.new && mv ${KUBELET}.new ${KUBELET} && systemctl restart ${KUBELET_UNIT}`,
      );
    };

    it('runs on with its config when the kubelet is of another minor', async () => {
      const { node, agentRanOn } = world();
      const name = await node.assignments.assign({ maxPods: 61 });
      const status = await node.settlesOn(name);
      await replace('other');
      await node.reaches('the other kubelet', ({ kubeletVersion }) => kubeletVersion?.startsWith('v1.36.') === true);
      await node.settlesOn(name);
      assert.equal((await node.assignments.status()).promotedAt, status.promotedAt);
      assert.equal((await node.configz())['maxPods'], 61);
      await agentRanOn();
    });

    it('begins the trial again when the kubelet is replaced in the middle of it, and blames nobody', async (t) => {
      const { node, agentRanOn } = world();
      const starts = await node.starts();
      const fields = { maxPods: 62 };
      const name = await node.assignments.assign(fields, { trial: { ...LONG_TRIAL, maxRestarts: 0 } });
      const { trial } = await node.reaches(
        'healthy time of the trial',
        (status) => (status.trial?.healthySeconds ?? 0) > 0,
      );
      await replace('newest');
      const replaced = performance.now();
      const again = await node.reaches(
        'the trial of another kubelet',
        ({ kubeletVersion, trial: now }) =>
          kubeletVersion?.startsWith('v1.37.') === true && now?.config === name && now.since !== trial?.since,
      );
      say(t, 'another kubelet → the trial began again', replaced);
      assert.ok(
        (again.trial?.healthySeconds ?? 0) < (trial?.healthySeconds ?? 0),
        'what was healthy before is no proof',
      );
      await node.assignments.assign(fields);
      const { rejected = [] } = await node.settlesOn(name);
      assert.ok(!rejected.some((entry) => entry.name === name));
      assert.equal(await node.starts(), starts + 2, 'once for the trial, once by whoever replaced it');
      assert.equal((await node.configz())['maxPods'], 62);
      await agentRanOn();
    });

    /** In place, as `kubeadm upgrade node` writes it. */
    const rewrite = (text: string): Promise<string> =>
      world().node.machine.run(`cat >${LOCAL_CONFIG_FILE} <<'END'\n${text}END`);

    /** As the reconciler does it: another turn where the node has changed since it asked. */
    const takesItsTurn = async (): Promise<void> => {
      const { assignments, waits } = world().node;
      let granted: string | undefined;
      await waits('the turn to be taken', async () => {
        const { awaitsTurn } = await assignments.status();
        if ((awaitsTurn ?? undefined) === undefined) return true;
        if (awaitsTurn?.seen !== granted) await assignments.grant();
        granted = awaitsTurn?.seen;
        return false;
      });
    };

    it('asks for a turn when kubeadm rewrites the config file at rest, and restarts nothing before', async () => {
      const { node, localFile, agentRanOn } = world();
      const name = await node.assignments.assign({ maxPods: 63 });
      await node.settlesOn(name);
      const [ours, starts] = [await localFile(), await node.starts()];
      await rewrite(kubeadmConfig('podPidsLimit: 2048\n'));
      await node.reaches('its wish for a turn', ({ awaitsTurn }) => awaitsTurn?.reason === 'NewBase');
      await node.waits('its file to be back', async () => (await localFile()) === ours);
      assert.equal(await node.starts(), starts, 'nothing is restarted without a turn');
      const before = await node.assignments.status();
      await takesItsTurn();
      await node.settlesOn(name, before);
      const { maxPods, podPidsLimit } = await node.configz();
      assert.deepEqual({ maxPods, podPidsLimit }, { maxPods: 63, podPidsLimit: 2048 });
      assert.equal(await node.starts(), starts + 1);
      await agentRanOn();
    });

    it('asks for a turn as well when whoever upgrades restarts the kubelet at once', async () => {
      const { node, agentRanOn } = world();
      const starts = await node.starts();
      const before = await node.assignments.status();
      const name = before.assigned?.name ?? '';
      await rewrite(kubeadmConfig('podPidsLimit: 4096\n'));
      await node.machine.run(`systemctl restart ${KUBELET_UNIT}`);
      await node.reaches('its wish for a turn', ({ awaitsTurn }) => awaitsTurn !== undefined && awaitsTurn !== null);
      assert.equal(await node.starts(), starts + 1, 'only they restarted it');
      await takesItsTurn();
      await node.settlesOn(name, before);
      const { maxPods, podPidsLimit } = await node.configz();
      assert.deepEqual({ maxPods, podPidsLimit }, { maxPods: 63, podPidsLimit: 4096 });
      await agentRanOn();
    });

    it('finishes a trial in whose middle kubeadm rewrites the config file, and then asks for a turn', async () => {
      const { node, agentRanOn } = world();
      const starts = await node.starts();
      const fields = { maxPods: 64 };
      const name = await node.assignments.assign(fields, { trial: LONG_TRIAL });
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      await rewrite(kubeadmConfig());
      await node.waits('its file to be back', async () => (await world().localFile()).includes('"maxPods": 64'));
      await node.assignments.assign(fields);
      await node.reaches('its wish for a turn', ({ awaitsTurn }) => awaitsTurn?.reason === 'NewBase');
      assert.equal(await node.starts(), starts + 1, 'nothing is restarted without a turn');
      const before = await node.assignments.status();
      assert.equal(before.lastKnownGood?.name, name);
      await takesItsTurn();
      await node.settlesOn(name, before);
      const { maxPods, podPidsLimit } = await node.configz();
      assert.deepEqual({ maxPods, podPidsLimit }, { maxPods: 64, podPidsLimit: -1 });
      await agentRanOn();
    });
  });
}
