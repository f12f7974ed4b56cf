import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LONG_TRIAL } from '../../node/support/assignments.ts';
import type { World } from '../support/world.ts';

/** A container runtime that goes and comes. */
export function describeRuntime(world: () => World): void {
  describe('whose container runtime is not always there', { concurrency: 1 }, () => {
    it('finishes a trial in whose middle containerd is restarted', async () => {
      const { node, agentRanOn } = world();
      const starts = await node.starts();
      const fields = { maxPods: 51 };
      const name = await node.assignments.assign(fields, { trial: LONG_TRIAL });
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      await node.machine.run('systemctl restart containerd');
      await node.assignments.assign(fields);
      await node.settlesOn(name);
      await node.waits('the Node to be Ready', node.ready);
      assert.equal(await node.starts(), starts + 1);
      await agentRanOn();
    });

    it('waits with a config that is assigned while containerd is away, and takes it up then', async () => {
      const { node, agentRanOn } = world();
      const starts = await node.starts();
      await node.machine.run('systemctl stop containerd');
      const name = await node.assignments.assign({ maxPods: 56 });
      await node.reaches('word of it', ({ error }) => /no socket/.test(error?.message ?? ''));
      const { rejected = [] } = await node.assignments.status();
      assert.ok(!rejected.some((entry) => entry.name === name));
      await node.machine.run('systemctl start containerd');
      await node.settlesOn(name);
      assert.equal((await node.configz())['maxPods'], 56);
      assert.equal(await node.starts(), starts + 1);
      await agentRanOn();
    });
  });
}
