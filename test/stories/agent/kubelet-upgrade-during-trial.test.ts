import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NODE, type WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const isJudged = (node: WholeNode) => () => (node.status().trial?.healthySeconds ?? 0) > 5;

/** Another kubelet takes the place of the one that runs, and the Node tells of it a while after its start. */
async function upgrade(node: WholeNode, version: string, gapMs = 5_000): Promise<void> {
  node.kubelet.restartByHand();
  await node.pass(gapMs);
  const [, before] = node.kube.objects().find(([plural]) => plural === 'nodes') ?? [];
  const status = { ...(before?.['status'] as object), nodeInfo: { kubeletVersion: version } };
  node.kube.put('nodes', { metadata: { name: NODE }, status });
}

const GATES = { maxPods: 150, featureGates: { GracefulNodeShutdown: true } };

/** What it is; the config; whether the node has a drop-in directory; starts of the kubelet, the upgrade's included. */
const ROWS = [
  ['a file that the other version needs otherwise', GATES, false, 5],
  ['a file that is the same for both', { maxPods: 150 }, false, 4],
  ['a drop-in', GATES, true, 4],
] as const;

describe('a kubelet that is upgraded in mid-trial', () => {
  for (const [what, fields, dropIns, starts] of ROWS) {
    for (const gapMs of [0, 5_000]) {
      it(`with ${what}, and tells after ${gapMs / 1000} s: the config has to prove itself from the beginning, and is blamed for nothing`, async () => {
        const { node } = await settledNode({ guard: true, dropIns, isVersionFollowed: true });
        const name = node.assign(fields);
        await node.until('judged', isJudged(node));
        await node.pass(30_000);
        await upgrade(node, 'v1.35.0', gapMs);
        await node.until('begun again', () => (node.status().trial?.healthySeconds ?? 60) < 10);
        await node.pass(50_000);
        assert.equal(node.status().phase, 'Trial', 'what the one before proved does not count');
        await node.until('promoted', isIdleOn(node, name));
        assert.equal(node.status().rejected, undefined);
        assert.equal(node.status().error, undefined);
        assert.equal(node.maxPods(), 150);
        assert.equal(node.kubelet.starts(), starts);
        const promotedAt = node.kubelet.starts();
        await node.pass(120_000);
        assert.equal(node.status().phase, 'Idle');
        assert.equal(node.kubelet.starts(), promotedAt, 'it runs what lies there');
      });
    }
  }

  it('to another release of the same minor version goes on with its trial, whose time begins again', async () => {
    const { node } = await settledNode({ guard: true, dropIns: false, isVersionFollowed: true });
    const name = node.assign(GATES);
    await node.until('judged', isJudged(node));
    await node.pass(30_000);
    await upgrade(node, 'v1.34.3');
    const starts = node.kubelet.starts();
    await node.pass(40_000);
    assert.equal(node.status().phase, 'Trial');
    await node.pass(30_000);
    assert.ok(isIdleOn(node, name)());
    assert.equal(node.kubelet.starts(), starts);
  });

  it('and goes back to what the new version needs, where the config fails with it', async () => {
    let isNew = false;
    const fateOf = (config: Readonly<Record<string, unknown>>) =>
      isNew && config['maxPods'] === 150 ? ('hangs' as const) : undefined;
    const { node, good } = await settledNode({ guard: true, dropIns: false, isVersionFollowed: true, fateOf });
    const name = node.assign(GATES);
    await node.until('judged', isJudged(node));
    isNew = true;
    await upgrade(node, 'v1.35.0', 0);
    await node.until('rejected', hasFallenBack(node, name));
    assert.equal(node.status().rejected?.[0]?.reason, 'NotHealthy');
    assert.ok(isIdleOn(node, good)());
    assert.equal(node.maxPods(), 100);
  });
});
