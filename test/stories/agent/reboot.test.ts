import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRebooter } from '#agent/execute/rebooter.ts';
import type { RebootOrder } from '#shared/contract/api/kubelet-node.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { createJournaledFiles } from '../../support/agent/journaled-files.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { createWholeNode, STATE, type WholeNode } from '../../support/agent/whole-node.ts';

const SENTINEL = `${STATE}/reboot-required`;
const order: RebootOrder = { by: 'sentinel', boot: 'boot-1', timeout: '5m' };

async function waitingNode(): Promise<WholeNode> {
  const node = createWholeNode();
  node.unassign();
  await node.until('the agent reports', () => node.status().phase === 'Idle');
  await node.pass(30_000);
  node.assign({ cgroupRoot: '/pods', maxPods: 250 }, { reboot: order });
  await node.until('the machine is to reboot', () => node.status().trial?.awaitsReboot === 'sentinel');
  return node;
}

const sentinel = (node: WholeNode): string | undefined => node.disk.tree()[SENTINEL];

describe('a change that takes effect with a boot', () => {
  it('says which boot is to end, and goes on when it has: with one start of the kubelet, by the machine', async () => {
    const node = await waitingNode();
    assert.equal(sentinel(node), 'boot-1\n');
    assert.equal(node.maxPods(), 42, 'the kubelet was not restarted');
    assert.equal(node.status().active?.name, 'local');
    const restarts = node.kubelet.orders.length;
    await node.stop();
    node.reboot();
    node.start();
    await node.until('the config is promoted', () => node.status().lastKnownGood?.name !== 'local');
    assert.equal(node.maxPods(), 250);
    assert.equal(node.kubelet.orders.length, restarts);
    assert.equal(sentinel(node), undefined);
  });

  it('is waited for by an agent that was started again, which asks for nothing else', async () => {
    const node = await waitingNode();
    await node.stop();
    node.start();
    await node.pass(60_000);
    assert.equal(node.status().trial?.awaitsReboot, 'sentinel');
    assert.equal(sentinel(node), 'boot-1\n');
  });

  it('fails when the boot does not come in time, leaves the kubelet running as it was, and takes the file away', async () => {
    const node = await waitingNode();
    const restarts = node.kubelet.orders.length;
    await node.until('it is given up', () => node.status().error?.reason === 'RebootMissing');
    await node.until('it is at rest', () => node.status().phase === 'Idle');
    assert.equal(node.kubelet.orders.length, restarts);
    assert.equal(sentinel(node), undefined);
    assert.match(node.status().error?.message ?? '', /did not reboot within 5 minutes: a reboot daemon was to see/);
  });

  it('takes a file away that an agent left which died while giving up', async () => {
    const node = createWholeNode();
    node.unassign();
    await node.until('the agent reports', () => node.status().phase === 'Idle');
    await node.stop();
    node.disk.plant(SENTINEL, 'boot-1\n');
    node.start();
    await node.pass(5_000);
    assert.equal(sentinel(node), undefined);
  });
});

describe('a reboot by systemd', () => {
  it('is refused with what to do about it where the agent does not speak to systemd', async () => {
    const rebooter = createRebooter({ disk: createMemoryDisk(createJournaledFiles()), stateDirectory: STATE });
    const ordered = rebooter.order(
      { by: 'systemd', boot: 'boot-1', timeoutMs: 1 },
      'a test',
      new AbortController().signal,
    );
    await assert.rejects(ordered, (error) => /KUBELET_RESTART_COMMAND/.test(reasonOf(error)));
  });
});
