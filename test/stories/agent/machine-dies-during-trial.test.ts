import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const MINUTE = 60_000;
const trial: TrialSpec = { duration: '10m', startTimeout: '2m', maxRestarts: 2 };

describe('a machine that goes down while a config is on trial', () => {
  for (const minutes of [2, 8]) {
    it(`takes the config back that it dies of ${minutes} minutes after every start`, async () => {
      const { node, good } = await settledNode();
      const deadly = node.assign({ maxPods: 150 }, { trial });
      await node.until('on trial', () => node.maxPods() === 150);
      let boots = 0;
      for (; node.maxPods() === 150; boots += 1) {
        assert.ok(boots < 4, 'it goes on dying');
        await node.pass(minutes * MINUTE);
        assert.notEqual(node.status().lastKnownGood?.name, deadly);
        await node.stop();
        node.reboot();
        node.start();
        await node.pass(5_000);
      }
      await node.until('taken back', hasFallenBack(node, deadly));
      const { error, active } = node.status();
      assert.deepEqual([error?.reason, active?.name, boots], ['MachineRebooted', good, 3]);
    });
  }

  it('costs one whole trial more where it happens once, and nothing else', async () => {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 }, { trial });
    await node.until('on trial', () => node.maxPods() === 150);
    await node.pass(9 * MINUTE);
    await node.stop();
    node.reboot();
    node.start();
    await node.pass(9 * MINUTE);
    assert.equal(node.status().phase, 'Trial');
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().rejected, undefined);
  });
});
