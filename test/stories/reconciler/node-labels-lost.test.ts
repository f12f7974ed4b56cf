import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { startScenario, WORKER } from '../support.ts';

const WORKERS = ['worker-1', 'worker-2', 'worker-3'];

describe('nodes that lose their labels all at once', () => {
  it('keep their configs, and whoever looks is told; nothing is left of it when the labels are back', async () => {
    await using scenario = await startScenario();
    const { world } = scenario;
    const told = async (): Promise<readonly unknown[]> => {
      const { items } = await world.kube.list<KubeletNode>({ resource: KUBELET_NODES });
      return items.map(({ metadata: { name, generation }, spec }) => [name, generation, spec]);
    };
    const [before, restarts] = [await told(), scenario.restarts()];
    for (const name of WORKERS) await world.nodes.get(name)?.relabel({});
    const lost = await world.until(
      'the loss to be told',
      ({ source, pools }) =>
        /lost the labels/.test(source.findings) &&
        pools.some(({ status }) => status?.holds?.some(({ reason, nodes }) => reason === 'unselected' && nodes === 3)),
    );
    assert.match(lost.source.findings, /3 of 4 assigned nodes have lost the labels .*maxUnassign allows 1: they keep/);
    for (const name of WORKERS) await world.nodes.get(name)?.relabel(WORKER);
    await scenario.settledOn(lost.source.commit);
    await world.until('nothing to be told', ({ source }) => source.findings === '');
    assert.deepEqual([await told(), scenario.restarts()], [before, restarts]);
  });
});
