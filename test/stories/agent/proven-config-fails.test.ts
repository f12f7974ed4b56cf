import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settledNode } from '../../support/agent/whole-node-stories.ts';
import { NODE } from '../../support/agent/whole-node.ts';

const conditionOf = (node: Awaited<ReturnType<typeof settledNode>>['node'], type: string) =>
  node.status().conditions?.find((condition) => condition.type === type)?.status;

it('the version of a kubelet that was upgraded at rest is told within seconds', async () => {
  const { node } = await settledNode({ isVersionFollowed: true });
  await node.pass(10 * 60_000);
  node.kubelet.restartByHand();
  // This service manager tells nobody: the next look is a minute away.
  await node.pass(62_000);
  node.kube.put('nodes', {
    metadata: { name: NODE },
    status: { nodeInfo: { kubeletVersion: 'v1.35.1' }, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  await node.pass(6_000);
  assert.equal(node.status().kubeletVersion, 'v1.35.1');
});

describe('a kubelet that refuses what it had proven, as after an upgrade', () => {
  it('is reported with its last error until it is well again, and keeps its config', async () => {
    let isUpgraded = false;
    const asked: unknown[] = [];
    const { node, good } = await settledNode({
      fateOf: () => (isUpgraded ? 'dies' : 'healthy'),
      lastWords: (wanted) => {
        asked.push(wanted);
        return Promise.resolve(['run.go:74] unrecognized feature gate']);
      },
    });
    isUpgraded = true;
    node.kubelet.restartByHand();
    await node.until('it says so', () => node.status().error?.reason === 'ProvenConfigFails');
    const { error } = node.status();
    assert.match(error?.message ?? '', /The kubelet’s last error: “run\.go:74\] unrecognized feature gate”$/);
    assert.equal(conditionOf(node, 'RunningConfigSeen'), 'False');
    assert.equal(conditionOf(node, 'Ready'), 'False');
    await node.pass(600_000);
    assert.deepEqual(node.status().error, error);
    assert.equal(node.status().lastKnownGood?.name, good);
    assert.equal(asked.length, 1);
    await node.stop();
    node.start();
    await node.pass(300_000);
    assert.deepEqual(node.status().error, error);
    isUpgraded = false;
    node.kubelet.restartByHand();
    await node.pass(180_000);
    assert.equal(node.status().error, undefined);
    assert.equal(conditionOf(node, 'RunningConfigSeen'), 'True');
    assert.equal(conditionOf(node, 'Ready'), 'True');
  });

  it('is not one that k3s has yet to start, however often k3s ends before its server is back', async () => {
    let isAway = false;
    const starter = { program: 'k3s', hostsServer: false, hasToWait: () => isAway } as const;
    const { node } = await settledNode({ starter });
    isAway = true;
    for (let end = 0; end < 5; end += 1) {
      node.kubelet.endProgram();
      await node.pass(60_000);
    }
    assert.equal(node.status().error, undefined);
  });

  it('is not one that was restarted, ended once, or was stopped by a person', async () => {
    let isWell = true;
    const { node } = await settledNode({ fateOf: () => (isWell ? 'healthy' : 'dies') });
    const errors = new Set<string | undefined>();
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        await node.pass(1_000);
        errors.add(node.status().error?.reason);
      }
    };
    node.kubelet.restartByHand();
    await pass(120);
    isWell = false;
    node.kubelet.restartByHand();
    await pass(4);
    isWell = true;
    await pass(120);
    node.kubelet.stopByHand();
    await pass(300);
    assert.deepEqual([...errors], [undefined]);
  });
});
