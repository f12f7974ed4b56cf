import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import type { Point, InjectedFault } from '../../support/agent/crash-injection.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';
import { createWholeNode, type WholeNode, type WholeNodeOptions } from '../../support/agent/whole-node.ts';

const HOUR_MS = 3_600_000;
/** startTimeout of these trials, and three orders; and the look that finds it out. */
const DEADLINE_MS = 30_000 + 90_000 + 15_000;

const conditionOf = (node: WholeNode, type: string) => node.status().conditions?.find((each) => each.type === type);

/** Its config is not to be tried any more, and what was good is back without a restart. */
async function assertTakenBack(node: WholeNode, bad: string, starts: number, reason: string, why: RegExp) {
  const { error, rejected = [], phase } = node.status();
  assert.deepEqual([phase, error?.reason, error?.config], ['Idle', reason, bad]);
  assert.match(error?.message ?? '', why);
  assert.deepEqual(
    rejected.map(({ name }) => name),
    [bad],
  );
  assert.equal(conditionOf(node, 'Stalled')?.status, 'True');
  assert.ok(!node.disk.tree()[CONFIG_FILE]?.includes('150'), 'the untried config lies where the kubelet reads it');
  assert.deepEqual([node.maxPods(), node.kubelet.starts()], [100, starts]);
  await node.pass(HOUR_MS);
  assert.deepEqual([node.status().phase, node.kubelet.starts()], ['Idle', starts]);
}

async function goodNode(options: WholeNodeOptions, strike: (point: Point) => InjectedFault = () => 'none') {
  const node = createWholeNode({ dropIns: false, ...options });
  await node.stop();
  node.start(strike);
  const good = node.assign({ maxPods: 100 });
  await node.until('the first config is good', isIdleOn(node, good));
  return { node, good, starts: node.kubelet.starts() };
}

describe('a trial that cannot be begun ends', () => {
  for (const guard of [true, false]) {
    it(`where the kubelet’s restart is denied, ${guard ? 'with' : 'without'} a guard`, async () => {
      const { node, starts } = await goodNode({ guard });
      node.kubelet.refuseRestarts(true);
      const bad = node.assign({ maxPods: 150 });
      await node.pass(DEADLINE_MS + 30_000);
      await assertTakenBack(node, bad, starts, 'RestartFailed', /the bus is away/);
    });
  }

  it('where the order to restart hangs forever', async () => {
    let hangs = false;
    const restart = () => (hangs ? new Promise<void>(() => undefined) : undefined);
    const { node, starts } = await goodNode({ guard: true, restart });
    hangs = true;
    const bad = node.assign({ maxPods: 150 });
    await node.pass(DEADLINE_MS + 4 * 60_000);
    await assertTakenBack(node, bad, starts, 'RestartFailed', /not done within 120 s/);
  });

  it('where the order is taken, and nothing ever comes of it', async () => {
    let isLost = false;
    const { node, starts } = await goodNode({ guard: true, restart: () => (isLost ? Promise.resolve() : undefined) });
    isLost = true;
    const bad = node.assign({ maxPods: 150 });
    await node.pass(DEADLINE_MS + 30_000);
    await assertTakenBack(node, bad, starts, 'RestartFailed', /was told 3 times to restart, and runs on as it was/);
  });

  for (const code of ['EBUSY', 'EACCES', 'EROFS', 'EIO', 'EPERM']) {
    it(`where its file cannot take the place of the one before: ${code}`, async () => {
      let refuses = false;
      const strike = ({ call, path }: Point): InjectedFault =>
        refuses && call === 'rename' && path === CONFIG_FILE ? { fails: code } : 'none';
      const { node, starts } = await goodNode({ guard: true }, strike);
      refuses = true;
      const bad = node.assign({ maxPods: 150 });
      await node.pass(DEADLINE_MS + 30_000);
      await assertTakenBack(node, bad, starts, 'CannotInstall', /cannot write \/var\/lib\/kubelet\/config\.yaml/);
    });
  }

  it('where the write of its file hangs', async () => {
    let hangs = false;
    const strike = ({ call, path }: Point): InjectedFault =>
      hangs && call === 'rename' && path === CONFIG_FILE ? 'hangs' : 'none';
    const { node, starts } = await goodNode({ guard: true, isDiskBounded: true }, strike);
    hangs = true;
    const bad = node.assign({ maxPods: 150 });
    await node.until('told', () => node.status().error?.reason === 'CannotInstall');
    assert.match(node.status().error?.message ?? '', /the disk does not answer/);
    await node.until('it has failed', () => node.status().rejected !== undefined);
    assert.deepEqual([node.status().error?.config, node.kubelet.starts(), node.maxPods()], [bad, starts, 100]);
  });
});

describe('a way back that cannot be gone is gone on with, and said', () => {
  it('where the kubelet’s restart is denied', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    node.kubelet.refuseRestarts(true);
    node.unassign();
    await node.pass(10_000);
    assert.equal(conditionOf(node, 'Stalled')?.status, 'False');
    await node.pass(2 * HOUR_MS);
    assert.equal(node.status().phase, 'FallingBack');
    assert.deepEqual(
      [conditionOf(node, 'Stalled')?.status, conditionOf(node, 'Stalled')?.reason],
      ['True', 'RestartFailed'],
    );
    assert.equal(node.status().error?.reason, 'RestartFailed');
    node.kubelet.refuseRestarts(false);
    await node.until('local', () => node.status().phase === 'Idle' && node.maxPods() === 42);
    assert.equal(conditionOf(node, 'Stalled')?.status, 'False');
    assert.notEqual(node.status().lastKnownGood?.name, good);
  });
});
