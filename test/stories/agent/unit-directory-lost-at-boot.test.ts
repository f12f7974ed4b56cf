import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyForgottenByBoots } from '#agent/host/volatile-path.ts';
import { UNIT_DIRECTORY } from '../../support/agent/fake-guard.ts';
import { STATE } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const paths = { KUBELET_UNIT_DIR: UNIT_DIRECTORY, STATE_DIR: STATE };

describe('a node whose unit directory a boot makes again', () => {
  it('tries nothing, blames nothing, says why, and goes on when that is on a disk', async () => {
    let fileSystem: string | undefined;
    const unfitness = () =>
      whyForgottenByBoots(paths, (path) => Promise.resolve(path === UNIT_DIRECTORY ? fileSystem : undefined));
    const { node, good } = await settledNode({ guard: true, fates: { 200: 'dies' }, unfitness });
    fileSystem = 'tmpfs';
    await node.pass(120_000);
    const guarded = () => node.status().conditions?.find(({ type }) => type === 'Guarded');
    assert.equal(guarded()?.status, 'False', 'before anything is assigned');
    node.assign({ maxPods: 200 });
    await node.pass(60_000);
    node.kill();
    await node.disk.remove(UNIT_DIRECTORY);
    node.reboot();
    await node.pass(3_600_000);
    assert.deepEqual([node.maxPods(), node.kubelet.isHealthy()], [100, true], 'without an agent');
    node.start();
    await node.pass(600_000);
    const { error, rejected, active } = node.status();
    assert.deepEqual([error?.reason, rejected, active?.name], ['CannotInstall', undefined, good]);
    fileSystem = undefined;
    const better = node.assign({ maxPods: 150 });
    await node.until('promoted', isIdleOn(node, better));
    assert.equal(guarded()?.status, 'True');
  });
});
