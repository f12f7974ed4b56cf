import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { removedPathOf, stagedPathOf } from '#agent/guard/guard-paths.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { armedFor, createNode, FLAGS, ORDER, OTHER, REMNANTS, textIn } from './support/guarded-node.ts';

describe('a guard that is armed for the next trial', () => {
  it('leaves the guard of the trial before where it cannot be armed for the next, while both lead to the same', async () => {
    for (const after of [0, 1, 2]) {
      const { disk, guard } = createNode();
      await guard.arm(ORDER);
      disk.failAfter(after);
      await assert.rejects(guard.arm(OTHER), (error) => codeOf(error) === 'GUARD_FILES');
      assert.deepEqual(await guard.look(), armedFor(ORDER));
      assert.notEqual(textIn(disk, stagedPathOf(FLAGS)), undefined, 'all that it puts back is still there');
    }
    const { guard, systemd } = createNode();
    await guard.arm(ORDER);
    systemd.hangUp();
    await assert.rejects(guard.arm({ ...OTHER, to: 'elsewhere' }));
    assert.deepEqual(await guard.look(), REMNANTS);
  });

  it('takes no trace of an earlier way back for the beginning of this one', async () => {
    const { disk, guard } = createNode();
    const left = removedPathOf('/var/lib/kubelet/memory_manager_state');
    disk.plant(left, 'of an earlier trial');
    await guard.arm(ORDER);
    assert.equal(textIn(disk, left), undefined);
    disk.plant(left, 'of this trial');
    await guard.disarm();
    assert.equal(textIn(disk, left), undefined);
  });
});
