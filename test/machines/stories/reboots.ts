import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RebootBy, RebootOrder } from '#shared/contract/api/kubelet-node.ts';
import { CRASHES } from '../../node/support/bad-configs.ts';
import { fencedBlocks } from '../../support/fenced-blocks.ts';
import type { World } from '../support/world.ts';

const NEEDS_BOOT = { kubeletCgroups: '/system.slice/kubelet.service' };

/** Changes that a boot follows. */
export function describeReboots(world: () => World): void {
  describe('with changes that reboot it', { concurrency: 1 }, () => {
    const order = async (by: RebootBy): Promise<{ readonly reboot: RebootOrder }> => {
      const { bootID = '' } = await world().node.assignments.status();
      return { reboot: { by, boot: bootID, timeout: '1h' } };
    };

    it('is rebooted once by who looks at the sentinel as the documentation has kured do', async (t) => {
      const { node, comesBack } = world();
      const { machine } = node;
      const starts = await node.starts();
      assert.equal(await kuredReboots(machine), false);
      const name = await node.assignments.assign({ ...NEEDS_BOOT, maxPods: 94 }, await order('sentinel'));
      await node.waits('the sentinel', () => kuredReboots(machine));
      assert.equal(await node.starts(), starts, 'the kubelet runs on until then');
      const { trial } = await node.assignments.status();
      assert.equal(trial?.awaitsReboot, 'sentinel');
      await machine.runLater('systemctl reboot');
      await comesBack(t, 'sentinel seen', machine.rebooted);
      await node.settlesOn(name);
      assert.equal(await kuredReboots(machine), false, 'it is not rebooted again');
      assert.equal((await node.configz())['maxPods'], 94);
      assert.equal(await node.starts(), 1, 'the boot was all that started it');
    });

    it('takes a config back that the kubelet dies of after the boot, and does not reboot for that', async (t) => {
      const { node, comesBack, localFile } = world();
      const good = await localFile();
      const name = await node.assignments.assign({ ...CRASHES, maxPods: 95 }, await order('systemd'));
      await comesBack(t, 'ordered', node.machine.rebooted);
      const { error, bootID } = await node.rejects(name);
      assert.match(error?.reason ?? '', /^(CrashLoop|NotHealthy)$/);
      assert.equal(await localFile(), good);
      assert.equal((await node.configz())['maxPods'], 94);
      assert.equal((await node.assignments.status()).bootID, bootID);
    });
  });
}

/** The command that docs/disruption.md gives to kured, which it runs on the host. */
async function kuredReboots(machine: { readonly run: (script: string) => Promise<string> }): Promise<boolean> {
  const block = fencedBlocks('docs/disruption.md', 'yaml').find((text) => text.includes('--reboot-sentinel-command'));
  const [, command = ''] = /--reboot-sentinel-command=(.*)$/m.exec(block ?? '') ?? [];
  assert.notEqual(command, '');
  return (await machine.run(`if ${command}; then echo yes; else echo no; fi`)).trim() === 'yes';
}
