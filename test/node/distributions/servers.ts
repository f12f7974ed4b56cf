import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CRASHES } from '../support/bad-configs.ts';
import { type DistributionNode, type DistributionWorld, startDistributionNode } from '../support/distribution-node.ts';
import { rancherLayout } from '../support/distributions/rancher.ts';
import { say } from '../support/say.ts';

/** A server of k3s: the API server is in the same process, away with each restart and for a while after. */
export function describeServers(world: DistributionWorld): void {
  describe('a server of k3s', { concurrency: 1 }, () => {
    let node: DistributionNode;
    before(async () => {
      const layout = rancherLayout('k3s', 'server');
      node = await startDistributionNode(world, { name: 'k3s-server', layout, apiInsideAfterMs: 8000 });
      await node.agent.enable();
    });
    after(() => node?.stop());
    /** Where it is away, nothing is known. */
    const settles = (name: string): Promise<unknown> => node.settlesOn(name);

    it('is taken over without a restart', async () => {
      const before = await node.runs();
      await settles(await node.assignments.assign({ clusterDomain: 'cluster.local' }));
      assert.deepEqual(await node.runs(), before);
    });

    it('takes a good change with one start of the API server', async (t) => {
      const before = await node.runs();
      const began = performance.now();
      await settles(await node.assignments.assign({ maxPods: 77 }));
      say(t, 'assigned → promoted', began);
      assert.equal((await node.runs()).starts, before.starts + 1);
      assert.equal((await node.configz())['maxPods'], 77);
    });

    it('has its API server back when the kubelet dies of a config, and says why it died', async (t) => {
      const [before, good] = [await node.runs(), await node.dropIn()];
      const bad = await node.assignments.assign({ ...CRASHES, maxPods: 50 });
      await node.waits('the kubelet to be away', async () => !(await node.healthy()));
      const began = performance.now();
      await node.waits('the kubelet to be back', async () => (await node.dropIn()) === good && node.healthy());
      say(t, 'away → healthy with the config before', began);
      const { error } = await node.rejects(bad);
      t.diagnostic(`${(await node.runs()).starts - before.starts} starts of the unit; ${error?.message}`);
      assert.match(error?.message ?? '', /failed to run Kubelet/);
    });
  });
}
