import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createGuardSystemd } from '#agent/guard/guard-systemd.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';

it('a systemd that cannot be asked fails whatever the guard needs of it', async () => {
  const systemd = createGuardSystemd({ socketPath: '/nowhere/bus', clock: systemClock });
  for (const asked of [
    () => systemd.daemonReload(),
    () => systemd.stopUnit('kubelet-gitops-guard.timer'),
    () => systemd.dropInsOf('kubelet.service'),
    () => systemd.setProperty('system.slice', 'MemoryMax', 1n),
  ]) {
    await assert.rejects(asked, (error) => codeOf(error) === 'GUARD_SYSTEMD');
  }
});
