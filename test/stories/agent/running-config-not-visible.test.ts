import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { familiesOf } from '#agent/metrics/families.ts';
import { metricsText } from '#agent/metrics/text-format.ts';
import { settledNode } from '../../support/agent/whole-node-stories.ts';
import { createWholeNode, type WholeNode } from '../../support/agent/whole-node.ts';

const conditionOf = (node: WholeNode, type: string) => node.status().conditions?.find((each) => each.type === type);

describe('a kubelet that lets nobody see what it runs', () => {
  it('is said to be one, and its config is not said to run', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const { node, good } = await settledNode({ isSeen: false, log });
    await node.pass(3_600_000);
    const { status, reason, message } = conditionOf(node, 'RunningConfigSeen') ?? {};
    assert.deepEqual([status, reason, message], ['False', 'Forbidden', 'it may not be read']);
    for (const type of ['Ready', 'KubeletConfigHealthy']) {
      const claim = `it was started with ${good}; what it runs was not seen: it may not be read`;
      assert.deepEqual([conditionOf(node, type)?.status, conditionOf(node, type)?.message], ['True', claim]);
    }
    const said = lines.filter((line) => line.includes('what the kubelet runs is not seen'));
    assert.ok(said.length === 1 && said[0]?.includes('it may not be read'), said.join(''));
    assert.match(
      metricsText(familiesOf(node.agent().view())),
      /^kubelet_gitops_node_condition\{condition="RunningConfigSeen"\} 0$/m,
    );
  });

  it('is known for one before anything is assigned', async () => {
    const node = createWholeNode({ isSeen: false });
    node.unassign();
    await node.pass(60_000);
    assert.equal(conditionOf(node, 'RunningConfigSeen')?.reason, 'Forbidden');
    assert.equal(conditionOf(node, 'Ready')?.message, 'it runs local');
  });

  it('is seen again within a minute after a restart, and nobody hears of the time between', async () => {
    const { node } = await settledNode();
    const since = conditionOf(node, 'RunningConfigSeen')?.lastTransitionTime;
    node.kubelet.restartByHand();
    await node.pass(300_000);
    const after = conditionOf(node, 'RunningConfigSeen');
    assert.deepEqual([after?.status, after?.lastTransitionTime], ['True', since]);
  });

  it('costs two writes of the status in a trial at most, and none at rest', async () => {
    const { node } = await settledNode();
    node.kube.patches.length = 0;
    node.assign({ maxPods: 150 });
    await node.pass(120_000);
    const seen = node.kube.patches.flatMap(({ conditions }) =>
      Array.isArray(conditions) ? conditions.filter(({ type }) => type === 'RunningConfigSeen') : [],
    ) as readonly { readonly status: string }[];
    const turns = seen.filter(({ status }, index) => index > 0 && seen[index - 1]?.status !== status);
    assert.ok(turns.length <= 1, JSON.stringify(seen));
  });
});
