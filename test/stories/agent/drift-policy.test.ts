import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DriftPolicy, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { NODE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const OURS = `${DROP_INS}/99-kubelet-gitops.conf`;

/** Says something about drift, and nothing else that was not said before. */
function tell(node: WholeNode, drift: DriftPolicy | undefined): void {
  const found = node.kube.objects().find(([plural]) => plural === 'kubeletnodes')?.[1];
  assert.ok(found !== undefined);
  const { drift: _, ...spec } = found['spec'] as KubeletNodeSpec;
  node.kube.assign(NODE, { ...spec, ...(drift === undefined ? {} : { drift }) });
}

describe('what a node is told about drift', () => {
  it('is no other config: nothing is tried, restarted or installed for it', async () => {
    const { node, good } = await settledNode();
    const files = node.disk.tree();
    const before = { starts: node.kubelet.starts(), ours: files[OURS], promotedAt: node.status().promotedAt };
    for (const drift of ['report', 'repair', undefined] as const) {
      tell(node, drift);
      const generation = (node.status().observedGeneration ?? 0) + 1;
      await node.until('heard', () => node.status().observedGeneration === generation);
      await node.pass(120_000);
      assert.ok(isIdleOn(node, good)());
      const { error, promotedAt, trial } = node.status();
      assert.deepEqual([error, promotedAt, trial], [undefined, before.promotedAt, undefined]);
      assert.deepEqual([node.kubelet.starts(), node.disk.tree()[OURS]], [before.starts, before.ours]);
    }
    assert.equal(node.kubelet.orders.length, 1);
  });

  it('holds in mid-trial, whose time goes on', async () => {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 30);
    const starts = node.kubelet.starts();
    tell(node, 'report');
    const before = node.clock.monotonic();
    await node.until('promoted', isIdleOn(node, name));
    assert.ok(node.clock.monotonic() - before < 45_000, 'the healthy time before counts');
    assert.equal(node.kubelet.starts(), starts);
  });

  it('decides whether a file that somebody else changed is put back, from the next look on', async () => {
    const { node } = await settledNode();
    const ours = node.disk.tree()[OURS];
    tell(node, 'report');
    await node.pass(30_000);
    node.disk.plant(OURS, 'theirs');
    await node.until('told', () => node.status().phase === 'Drifted');
    await node.pass(1_800_000);
    assert.equal(node.disk.tree()[OURS], 'theirs');
    tell(node, 'repair');
    await node.until('put back', () => node.disk.tree()[OURS] === ours);
    await node.until('at rest', () => node.status().phase === 'Idle');
    assert.equal(node.kubelet.starts(), 2, 'the kubelet never read it');
  });

  it('is kept on the disk with the config, for the time when the API server is away', async () => {
    const { node } = await settledNode();
    node.assign({ maxPods: 150 });
    tell(node, 'report');
    await node.until('promoted', () => node.maxPods() === 150 && node.status().phase === 'Idle');
    assert.match(node.disk.tree()[`${STATE}/meta/last-known-good`] ?? '', /"drift": "report"/);
    await node.stop();
    node.kube.setAway(true);
    node.start();
    node.disk.plant(OURS, 'theirs');
    await node.pass(600_000);
    assert.equal(node.disk.tree()[OURS], 'theirs');
  });
});
