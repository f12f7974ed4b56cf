import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createSystemdService } from '#agent/kubelet/service-systemd.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { type BootedNode, bootNode } from './support/booted-node.ts';
import { nodeSkipReason } from './support/tree.ts';

/** systemd's own words at the end of a shutdown, and those of who runs the container. */
const REBOOTING = /Rebooting|being rebooted|System Reboot|reboot\.target/;
const never = new AbortController().signal;

describeOrSkip('a machine with a real systemd', { skip: await nodeSkipReason() }, () => {
  let node: BootedNode;
  before(async () => {
    node = await bootNode();
  });
  after(async () => {
    await node?.stop();
  });

  it('is rebooted in order when the agent has it rebooted over the bus', async () => {
    assert.doesNotMatch(node.logTail(2000), REBOOTING);
    const { busSocket: socketPath } = node;
    const options = { unit: 'kubelet.service', clock: systemClock, random: () => 0.5, log: silentLog };
    const systemd = createSystemdService({ ...options, socketPath, timeoutMs: 60_000 });
    try {
      await systemd.reboot('a test', never);
    } finally {
      systemd.close();
    }
    const seen = (): Promise<true | undefined> => Promise.resolve(REBOOTING.test(node.logTail(2000)) || undefined);
    await until('the machine says that it reboots', seen, { everyMs: 200 });
  });
});
