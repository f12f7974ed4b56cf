import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '#shared/contract/finding.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { NODE, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const OURS = `${DROP_INS}/99-kubelet-gitops.conf`;
const MINUTE = 60_000;
const NOT_HERE: Finding = { code: 'x', severity: 'error', message: 'not on this machine' };

const messageOf = (node: WholeNode): string =>
  node.status().conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.message ?? '';
const stalled = (node: WholeNode): string | undefined =>
  node.status().conditions?.find(({ type }) => type === 'Stalled')?.status;
const patches = (node: WholeNode): number => node.kube.calls.filter((call) => call.startsWith('patch')).length;

/** Somebody else changes our file, and it is put back. */
async function changeAndWait(node: WholeNode): Promise<void> {
  const ours = node.disk.tree()[OURS];
  node.disk.plant(OURS, 'theirs');
  await node.until('put back', () => node.disk.tree()[OURS] === ours);
}

describe('a file that somebody else changed', () => {
  it('is put back within the look that finds it, after the config was checked once more', async () => {
    let checks = 0;
    const { node } = await settledNode({
      preflight: () => {
        checks += 1;
        return [];
      },
    });
    const ours = node.disk.tree()[OURS];
    const before = checks;
    node.disk.plant(OURS, 'theirs');
    await node.until('found', () => node.status().phase === 'Drifted');
    assert.equal(node.disk.tree()[OURS], ours, 'no time has passed since');
    assert.equal(stalled(node), 'False');
    await node.until('at rest', () => node.status().phase === 'Idle');
    assert.deepEqual([checks - before, node.kubelet.starts()], [1, 2]);
  });

  it('is put back four times within an hour; the fifth time it is left alone until the hour is over', async () => {
    const { node } = await settledNode();
    const ours = node.disk.tree()[OURS];
    const first = node.clock.monotonic();
    for (let change = 1; change <= 4; change += 1) await changeAndWait(node);
    const last = node.clock.monotonic();
    assert.ok(last - first < 10 * MINUTE);
    node.disk.plant(OURS, 'theirs');
    await node.pass(first + 60 * MINUTE - last);
    assert.deepEqual([node.disk.tree()[OURS], node.status().phase, stalled(node)], ['theirs', 'Drifted', 'True']);
    assert.match(messageOf(node), /; it was put back 4 times within the hour, and now is left as it is$/);
    await node.until('put back', () => node.disk.tree()[OURS] === ours);
    assert.ok(node.clock.monotonic() - first < 65 * MINUTE);
    assert.equal(node.kubelet.starts(), 2);
  });

  it('is left alone, and the status says why without a write for each look, until the config passes its checks', async () => {
    let findings: readonly Finding[] = [];
    const { node } = await settledNode({ preflight: () => findings });
    const ours = node.disk.tree()[OURS];
    findings = [NOT_HERE];
    node.disk.plant(OURS, 'theirs');
    await node.until('refused', () => /not on this machine/.test(messageOf(node)));
    await node.pass(1_000);
    assert.match(messageOf(node), /; it is not put back, because it would not do any more: not on this machine$/);
    const before = patches(node);
    for (let minute = 0; minute < 20; minute += 1) {
      await node.pass(MINUTE);
      assert.deepEqual([node.status().phase, stalled(node)], ['Drifted', 'True']);
      assert.match(messageOf(node), /not on this machine$/);
    }
    assert.ok(patches(node) - before <= 5, `${patches(node) - before} writes in twenty minutes`);
    assert.equal(node.disk.tree()[OURS], 'theirs');
    findings = [];
    await node.until('put back', () => node.disk.tree()[OURS] === ours);
    await node.until('at rest', () => node.status().phase === 'Idle');
    assert.equal(node.kubelet.starts(), 2);
  });

  it('is checked ever more seldom where it cannot be checked, and put back when it can', async () => {
    let checks = 0;
    let isUnfit = false;
    const { node } = await settledNode({
      preflight: () => {
        checks += 1;
        if (isUnfit) throw new GitopsError('SERVICE_UNFIT', 'not now');
        return [];
      },
    });
    const ours = node.disk.tree()[OURS];
    isUnfit = true;
    node.disk.plant(OURS, 'theirs');
    await node.until('found', () => node.status().phase === 'Drifted');
    const before = checks;
    await node.pass(30 * MINUTE);
    const [made, phase] = [checks - before, node.status().phase];
    assert.ok(made >= 8 && made <= 18, `${made} checks in half an hour`);
    assert.deepEqual([phase, stalled(node), node.disk.tree()[OURS]], ['Drifted', 'True', 'theirs']);
    isUnfit = false;
    await node.until('put back', () => node.disk.tree()[OURS] === ours);
  });

  it('and that is undone by somebody before it passes its checks leaves no check behind for the next change', async () => {
    let findings: readonly Finding[] = [];
    const { node } = await settledNode({ preflight: () => findings });
    const ours = node.disk.tree()[OURS] ?? '';
    findings = [NOT_HERE];
    node.disk.plant(OURS, 'theirs');
    await node.until('refused', () => /not on this machine/.test(messageOf(node)));
    node.disk.plant(OURS, ours);
    await node.until('at rest', () => node.status().phase === 'Idle');
    findings = [];
    await changeAndWait(node);
    assert.doesNotMatch(messageOf(node), /not on this machine/);
  });
});

describe('a config that cannot be had', () => {
  const NAME = 'a config that is waited for';

  /** A node that has tried in vain for a while. */
  async function waitingNode(): Promise<{ node: WholeNode; tries: () => number; name: string }> {
    const { node } = await settledNode();
    const name = node.assign({ maxPods: 150 });
    node.kube.remove('configmaps', name);
    const tries = (): number => node.kube.calls.filter((call) => call === `get configmaps/${name}`).length;
    await node.until(NAME, () => tries() === 8);
    return { node, tries, name };
  }

  it('is not tried sooner because the KubeletNode was lost and made again meanwhile', async () => {
    const { node, tries } = await waitingNode();
    const spec = node.kube.spec(NODE);
    node.kube.remove('kubeletnodes', NODE);
    await node.pass(MINUTE);
    node.kube.assign(NODE, spec);
    await node.pass(5_000);
    assert.equal(tries(), 8);
    await node.until('tried again in its time', () => tries() === 9);
  });

  it('is tried at once where something else was assigned meanwhile', async () => {
    const { node, tries, name } = await waitingNode();
    const spec = node.kube.spec(NODE);
    const other = node.assign({ maxPods: 100 });
    await node.until('the other one is heard of', isIdleOn(node, other));
    await node.pass(1_000);
    node.kube.assign(NODE, spec);
    await node.pass(1_000);
    assert.ok(tries() > 8, name);
  });
});
