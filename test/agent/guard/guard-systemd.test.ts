import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createGuardSystemd } from '#agent/guard/guard-systemd.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { noBusDaemon, startBusDaemon } from '../host/dbus/support/bus-daemon.ts';
import { startSystemdOnBus } from '../kubelet/support/systemd-on-bus.ts';

it('a systemd that cannot be asked fails whatever the guard needs of it', async () => {
  const systemd = createGuardSystemd({ socketPath: '/nowhere/bus', clock: systemClock });
  for (const asked of [
    () => systemd.daemonReload(),
    () => systemd.stopUnit('kubelet-gitops-guard.timer'),
    () => systemd.dropInsOf('kubelet.service'),
    () => systemd.startTimeoutOf('kubelet.service'),
    () => systemd.setProperty('system.slice', 'MemoryMax', 1n),
  ]) {
    await assert.rejects(asked, (error) => codeOf(error) === 'GUARD_SYSTEMD');
  }
});

it('a systemd is asked over a connection of its own each time', { skip: noBusDaemon }, async (t) => {
  const daemon = await startBusDaemon();
  const on = await startSystemdOnBus(daemon.socketPath, {
    DropInPaths: { signature: 'as', value: ['/a', '/b'] },
    TimeoutStartUSec: { signature: 't', value: 90_500_000n },
  });
  const systemd = createGuardSystemd({ socketPath: daemon.socketPath, clock: systemClock });
  t.after(async () => {
    on.close();
    await daemon.stop();
  });
  assert.deepEqual(await systemd.dropInsOf('kubelet.service'), ['/a', '/b']);
  assert.equal(await systemd.startTimeoutOf('kubelet.service'), 90.5);
  await systemd.daemonReload();
  await systemd.stopUnit('kubelet-gitops-guard.timer');
  await systemd.setProperty('system.slice', 'MemoryMax', 7n);
  assert.deepEqual(on.calls, [
    'LoadUnit kubelet.service',
    'GetAll ',
    'LoadUnit kubelet.service',
    'GetAll ',
    'Reload',
    'StopUnit kubelet-gitops-guard.timer replace',
    'SetUnitProperties system.slice true MemoryMax,7',
  ]);
});
