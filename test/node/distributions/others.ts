import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Condition } from '#shared/contract/api/object.ts';
import { type DistributionNode, type DistributionWorld, startDistributionNode } from '../support/distribution-node.ts';
import { agentSettings, type Layout } from '../support/distributions/layout.ts';
import { k0sLayout, kubesprayLayout, microk8sLayout } from '../support/distributions/others.ts';
import { LOCAL_CONFIG_FILE } from '../support/node-paths.ts';
import { say } from '../support/say.ts';

const LAYOUTS: Readonly<Record<string, Layout>> = {
  k0s: k0sLayout(),
  kubespray: kubesprayLayout(),
  microk8s: microk8sLayout(),
};

/** Nodes that only the files and the order of their distribution set apart. */
export function describeOthers(world: DistributionWorld): void {
  for (const [name, layout] of Object.entries(LAYOUTS))
    describe(`a node of ${name}`, { concurrency: 1 }, () => {
      let node: DistributionNode;
      before(async () => {
        node = await startDistributionNode(world, { name, layout });
      });
      after(() => node?.stop());

      if (name === 'kubespray')
        it('is not Ready for an agent that is told of the file that kubeadm left, which no kubelet reads', async () => {
          await node.agent.set({ KUBELET_CONFIG_FILE: LOCAL_CONFIG_FILE });
          await node.agent.enable();
          const isTold = ({ type, status, message }: Condition): boolean =>
            type === 'Ready' && status === 'False' && message.includes(layout.paths.configFile ?? '');
          await node.reaches('the file to set', ({ conditions = [] }) => conditions.some(isTold));
          await node.agent.disable();
          await node.agent.set(agentSettings(layout));
        });

      it('is taken over without a restart', async () => {
        const before = await node.runs();
        const { maxPods, podPidsLimit } = await node.configz();
        const same = await node.assignments.assign({ maxPods, podPidsLimit });
        await node.agent.enable();
        await node.settlesOn(same);
        assert.deepEqual(await node.runs(), before);
      });

      it('takes a good change with one start of the unit', async (t) => {
        const [before, running] = [await node.runs(), await node.configz()];
        const began = performance.now();
        await node.settlesOn(await node.assignments.assign({ maxPods: 77 }));
        say(t, 'assigned → promoted', began);
        assert.equal((await node.runs()).starts, before.starts + 1);
        assert.deepEqual(await node.configz(), { ...running, maxPods: 77 });
      });

      if (name === 'microk8s')
        it('promotes nothing that its file of arguments wins over', async (t) => {
          const { evictionHard } = await node.configz();
          const name = await node.assignments.assign({ evictionHard: { 'memory.available': '77Mi' } });
          const { error } = await node.rejects(name);
          t.diagnostic(`${error?.reason}: ${error?.message}`);
          assert.match(error?.message ?? '', /evictionHard/);
          assert.deepEqual((await node.configz())['evictionHard'], evictionHard);
        });
    });
}
